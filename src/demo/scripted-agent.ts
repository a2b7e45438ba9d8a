/**
 * The scripted agent of `casefile demo`: it has no model and no network, and always makes the same plans. It runs as
 * a provider of kind `command`, edits one file of the sample, and prints what it does as Claude Code would.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { choosePlan, findPlan, planText, SOURCE_FILE } from './scripted-plans.ts'

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, string> }
  | { type: 'tool_result'; tool_use_id: string; content: string }

let calls = 0
const ACTS: Record<string, (prompt: string) => Promise<void>> = { plan, work }

const act = ACTS[process.argv[2] ?? '']
if (!act) throw new Error('Say plan or work.')
await act(await text(process.stdin))
process.stdout.write(`${JSON.stringify({ type: 'result', subtype: 'success', is_error: false })}\n`)

async function plan(prompt: string): Promise<void> {
  await say('I am a scripted agent. No model is behind me, and I know only this bug.')
  await useTool('Read', { file_path: SOURCE_FILE }, readSource)
  const isSentBack = prompt.includes('The operator does not approve it as it is.')
  await say(planText(choosePlan(readSource(), isSentBack)))
}

async function work(prompt: string): Promise<void> {
  const approved = findPlan(prompt)
  if (!approved) throw new Error('I am a scripted agent, and can carry out only my own plans.')
  await useTool('Read', { file_path: SOURCE_FILE }, readSource)
  for (const [from, to] of approved.edits) {
    const strings = { old_string: from, new_string: to }
    await useTool('Edit', { file_path: SOURCE_FILE, ...strings }, () => replace(from, to))
  }
  await say(approved.done)
}

function readSource(): string {
  return readFileSync(SOURCE_FILE, 'utf8')
}

function replace(from: string, to: string): string {
  const source = readSource()
  if (!source.includes(from)) throw new Error(`${SOURCE_FILE} does not contain: ${from.trim()}`)
  writeFileSync(
    SOURCE_FILE,
    source.replace(from, () => to),
  )
  return `The file ${SOURCE_FILE} has been updated.`
}

function say(words: string): Promise<void> {
  return print('assistant', { type: 'text', text: words })
}

async function useTool(
  name: string,
  input: Record<string, string>,
  act: () => string,
): Promise<void> {
  const id = `call-${++calls}`
  await print('assistant', { type: 'tool_use', id, name, input })
  await print('user', { type: 'tool_result', tool_use_id: id, content: act() })
}

/** Waits a moment first, so that a person can follow. */
async function print(type: 'assistant' | 'user', block: Block): Promise<void> {
  await delay(Number(process.argv[3] ?? 0))
  process.stdout.write(`${JSON.stringify({ type, message: { content: [block] } })}\n`)
}
