// Written by gsd-tools, which hears of this host's events through this file: one process an event, JSON in, JSON out.
// A program that is missing or fails says nothing, and then nothing happens here.
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = __program__
const calls = __calls__
const tools = __tools__

function ask(event, session, cwd, more) {
  const call = calls[event]
  const tool = more?.tool_name
  if (!call || (tool && tools[event] && !tools[event].includes(tool))) return {}
  return new Promise((resolve) => {
    // Where a program cannot be started, `spawn` may throw, or give a child that cannot be spoken to.
    try {
      let said = ""
      const child = spawn(program, call, { cwd, timeout: __timeout__, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      child.on("error", () => resolve({}))
      child.on("close", () => {
        try { resolve(JSON.parse(said) ?? {}) } catch { resolve({}) }
      })
      child.stdout?.setEncoding("utf8").on("data", (part) => { said += part })
      child.stdin?.on("error", () => {}).end(JSON.stringify({ event, session_id: session, cwd, ...more }))
    } catch { resolve({}) }
  })
}
