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
  "before-tool": ["bash","write","edit","read","grep","find"],
  "after-tool": ["bash","write","edit","read"],
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

export default function (host) {
  const notes = new Map()
  let start
  const about = async (event, ctx, more) => {
    const used = ctx.getContextUsage?.()?.percent
    const context_window = typeof used === "number" ? { remaining_percentage: 100 - used } : undefined
    const answer = await ask(event, ctx.sessionManager?.getSessionId?.(), ctx.cwd, { ...more, context_window })
    if (answer.tell && ctx.hasUI) ctx.ui.notify(answer.tell, "info")
    return answer
  }
  host.on("session_start", (_event, ctx) => {
    start = about("session-start", ctx)
  })
  host.on("before_agent_start", async () => {
    const { context } = (await start) ?? {}
    start = undefined
    if (context) return { message: { customType: "gsd-tools", content: context, display: false } }
  })
  host.on("tool_call", async ({ toolName, toolCallId, input }, ctx) => {
    const { block, context } = await about("before-tool", ctx, { tool_name: toolName, tool_input: input })
    if (context) notes.set(toolCallId, context)
    if (block) return { block: true, reason: block }
  })
  host.on("tool_result", async ({ toolName, toolCallId, input, content }, ctx) => {
    const tool_response = content.map((part) => part.text ?? "").join("\n")
    const more = { tool_name: toolName, tool_input: input, tool_response }
    const { block, context } = await about("after-tool", ctx, more)
    const said = [notes.get(toolCallId), block, context].filter(Boolean)
    notes.delete(toolCallId)
    if (said.length) return { content: [...content, ...said.map((text) => ({ type: "text", text }))] }
  })
  host.on("session_before_compact", async (_event, ctx) => {
    await about("before-compact", ctx)
  })
  host.on("agent_end", async (_event, ctx) => {
    await about("stop", ctx)
  })
}
