// Written by gsd-tools, which hears of this host's events through this file: one process an event, JSON in, JSON out.
// A program that is missing or fails says nothing, and then nothing happens here.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = "/home/u/.config/kilo/gsd-core/bin/gsd-tools"
const calls = {
  "session-start": ["hook","plugin","session-start"],
  "before-tool": ["hook","plugin","before-tool"],
  "after-tool": ["hook","plugin","after-tool"],
  "before-compact": ["hook","plugin","before-compact"],
}
const tools = {
  "before-tool": ["bash","write","edit","patch","read","grep","glob","task"],
  "after-tool": ["bash","write","edit","patch","read","task"],
}

function ask(event, session, cwd, more) {
  const call = calls[event]
  const tool = more?.tool_name
  if (!call || (tool && tools[event] && !tools[event].includes(tool))) return {}
  return new Promise((resolve) => {
    // Where a program cannot be started, `spawn` may throw, or give a child that cannot be spoken to.
    try {
      let said = ""
      const child = spawn(program, call, { cwd, timeout: 10000, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      child.on("error", () => resolve({}))
      child.on("close", () => {
        try { resolve(JSON.parse(said) ?? {}) } catch { resolve({}) }
      })
      child.stdout?.setEncoding("utf8").on("data", (part) => { said += part })
      child.stdin?.on("error", () => {}).end(JSON.stringify({ event, session_id: session, cwd, ...more }))
    } catch { resolve({}) }
  })
}

export const GsdTools = async ({ directory, client }) => {
  const agents = new Set()
  const starts = new Map()
  const notes = new Map()
  const limits = new Map()
  const used = new Map()
  const about = async (event, session, more) => {
    const left = 100 * (1 - used.get(session) / limits.get(session))
    const context_window = left >= 0 ? { remaining_percentage: left } : undefined
    const answer = await ask(event, session, directory, { ...more, context_window })
    if (answer.tell) client?.tui?.showToast({ body: { message: answer.tell, variant: "info" } }).catch(() => {})
    return answer
  }
  return {
    event: async ({ event: { type, properties } }) => {
      const info = properties?.info
      if (type === "session.created" && info?.parentID) agents.add(info.id)
      const count = type === "message.updated" && info?.role === "assistant" && info.tokens
      const sum = count ? count.input + count.output + (count.cache?.read ?? 0) + (count.cache?.write ?? 0) : 0
      if (sum) used.set(info.sessionID, sum)
      if (type === "session.idle" && !agents.has(properties.sessionID)) await about("stop", properties.sessionID)
    },
    "chat.params": async ({ sessionID, model }) => {
      if (model?.limit?.context) limits.set(sessionID, model.limit.context)
    },
    // The system prompt is built again for every request: what a start said is said in each, in the same words.
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || agents.has(sessionID)) return
      if (!starts.has(sessionID)) starts.set(sessionID, about("session-start", sessionID))
      const { context } = await starts.get(sessionID)
      if (context) system.push(context)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const { block, context } = await about("before-tool", sessionID, { tool_name: tool, tool_input: args })
      if (block) throw new Error(block)
      if (context) notes.set(callID, context)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      const more = { tool_name: tool, tool_input: args, tool_response: result?.output }
      const { block, context } = await about("after-tool", sessionID, more)
      const said = [notes.get(callID), block, context].filter(Boolean)
      notes.delete(callID)
      if (said.length && typeof result?.output === "string") result.output = [result.output, ...said].join("\n\n")
    },
    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      const answer = await about("before-compact", sessionID)
      if (answer.context) context?.push(answer.context)
    },
  }
}
