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
