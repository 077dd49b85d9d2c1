// Written by gsd-tools, which hears of this host's events through this file: one process an event, JSON in, JSON out.
// A program that is missing or fails says nothing, and then nothing happens here.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../gsd-core/bin/gsd-tools", import.meta.url))
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

const hooksOf = ({ directory, client }) => {
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

// Version 1 of the host takes `server`; 1.18 calls `setup` as well, after it and without these parts. Version 2 takes `setup`,
// with tools and events in other words: names and shapes as programs for 2.0.8 to 2.0.26 have them, not tried here.
let isServed = false
const names = { apply_patch: "patch", shell: "bash", subagent: "task" }

const server = async (host) => {
  isServed = true
  return hooksOf(host)
}

const setup = async (host) => {
  if (isServed || !host.tool?.hook || !host.session?.hook) return
  const hooks = hooksOf({ directory: host.location?.directory ?? process.cwd() })
  const call = ({ tool, sessionID, id, input }) => {
    const args = typeof input?.path === "string" ? { filePath: input.path, ...input } : input
    return { tool: names[tool] ?? tool, sessionID, callID: id, args }
  }
  await host.tool.hook("execute.before", (event) => hooks["tool.execute.before"](call(event), call(event)))
  await host.tool.hook("execute.after", async (event) => {
    const content = event.result?.content
    if (!Array.isArray(content)) return
    const output = content.filter(({ type }) => type === "text").map(({ text }) => text).join("\n")
    const result = { output }
    await hooks["tool.execute.after"](call(event), result)
    if (result.output !== output) content.push({ type: "text", text: result.output.slice(output.length).trim() })
  })
  await host.session.hook("context", async (event) => {
    const system = []
    await hooks["experimental.chat.system.transform"](event, { system })
    for (const text of system) event.system.push({ type: "text", text })
  })
  const listen = async () => {
    for await (const { type, properties, data } of host.event.subscribe()) {
      await hooks.event({ event: { type, properties: properties ?? data ?? {} } })
    }
  }
  // Without them the end of a turn is not heard, and a sub-agent is told what a session is.
  listen().catch(() => {})
}

export default { id: "gsd-tools", setup, server }
