import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { CommandSpec } from '../../src/runners/agents/agent.ts'
import { codexRecord } from '../../src/runners/agents/codex/record.ts'
import { createReadableOutput } from '../../src/runners/agents/readable-output.ts'
import { KNOWN_AGENTS, parserFor } from '../../src/runners/agents/registry.ts'
import type { AgentNote } from '../../src/runners/contract.ts'
import { type TranscriptLine, transcriptsOf } from '../fixtures/agents/transcripts.ts'

/*
 * What is read of all that real agents printed and sent (`npm run transcripts`), as somebody has looked at it. To look at
 * it again, delete a file in test/fixtures/agents/readings/, run this, and see what git shows.
 */

const fileOf = (id: string) =>
  fileURLToPath(new URL(`../fixtures/agents/readings/${id}.txt`, import.meta.url))

/** Lines that follow themselves, once. */
function folded(lines: readonly string[]): string[] {
  const found: { line: string; count: number }[] = []
  for (const line of lines) {
    const last = found.at(-1)
    if (last?.line === line) last.count++
    else found.push({ line, count: 1 })
  }
  return found.map(({ line, count }) => (count > 1 ? `${line} (${count} times)` : line))
}

/** An output as a person sees it, and the notes of the trail, in lines. */
function collector() {
  const notes: string[] = []
  let text = ''
  const shown = createReadableOutput({
    write(more) {
      text += more
    },
    clean: (whole) => whole,
    workdir: '/project',
  })
  const note = ({ event, fields }: AgentNote) => notes.push(`${event} ${JSON.stringify(fields)}`)
  const lines = () => text.split('\n').map((line) => `| ${line}`.trimEnd())
  return { notes, shown, note, lines }
}

function ofCommand({ stream: format }: CommandSpec, lines: readonly TranscriptLine[]) {
  const { notes, shown, note, lines: said } = collector()
  const stream = parserFor(format)(shown)
  const records: unknown[] = []
  const take = (found: readonly AgentNote[] | null | undefined) => {
    if (found === null) notes.push('(a line of its log)')
    for (const each of found ?? []) {
      shown.note(each)
      note(each)
    }
  }
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  for (const line of lines) {
    if ('record' in line) records.push(line.record)
    else if ('out' in line) take(stream.line(textOf(line.out)))
    else if ('err' in line) take(stream.errorLine?.(textOf(line.err)))
  }
  const record = records.map((each) => JSON.stringify(each)).join('\n')
  take(stream.unsent?.(records.length > 0 ? codexRecord(record, 0) : null))
  const { messages, ...end } = stream.end()
  const rest = Object.entries(end).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const says = messages.map((each) => `says ${JSON.stringify(each)}`)
  return [...folded([...notes, ...says]), ...rest, ...said()]
}

for (const spec of KNOWN_AGENTS) {
  t.test(`what is read of ${spec.id} is as it was looked at`, async (t) => {
    const scenes = [...transcriptsOf(spec.id)].sort(([a], [b]) => (a < b ? -1 : 1))
    const read = scenes.map(([name, { lines }]) => {
      return { name, text: `${ofCommand(spec, lines).join('\n').trimEnd()}\n` }
    })
    const file = fileOf(spec.id)
    if (!existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, read.map(({ name, text }) => `# ${name}\n${text}`).join('\n'))
      t.fail(`${file} was missing and is written: look at it`)
    }
    const parts = readFileSync(file, 'utf8')
      .split(/^# (.*)\n/m)
      .slice(1)
    const known = new Map<string, string>()
    for (let at = 0; at < parts.length; at += 2)
      known.set(parts[at]!, `${parts[at + 1]!.trimEnd()}\n`)
    t.strictSame(
      [...known.keys()],
      scenes.map(([name]) => name),
      'these scenes',
    )
    for (const { name, text } of read) t.equal(text, known.get(name), name)
  })
}
