import { styleText } from 'node:util'
import type { ReceivedEvent } from '../client/session-stream.ts'

/** Formats the demo's output: one method for each kind of output. */
export interface Narrator {
  title(text: string): void
  chapter(text: string): void
  say(...lines: string[]): void
  command(text: string): void
  /** Prints a text from a file or a response. */
  quote(text: string): void
  request(method: string, path: string, body: unknown, status: number): void
  event(event: ReceivedEvent): void
  wrote(paths: readonly string[]): void
}

type Style = Parameters<typeof styleText>[0]

/** Pass `colours` only if the output is a terminal. */
export function createNarrator(write: (text: string) => void, colours: boolean): Narrator {
  const styled = (style: Style, text: string) => (colours ? styleText(style, text) : text)
  const line = (text = '') => write(`${text}\n`)
  let chapters = 0
  let openLine = ''

  /** Prints output that arrives in pieces, which need not end at line ends. */
  function output(step: string, text: string): void {
    const lines = (openLine + text).split('\n')
    openLine = lines.pop()!
    for (const each of lines.filter((text) => !TAP_DETAIL.test(text))) {
      const isFailure = each.startsWith('not ok')
      line(`    ${styled('cyan', step.padStart(18))}  ${isFailure ? styled('red', each) : each}`)
    }
  }

  return {
    title: (text) => line(styled('bold', text)),
    chapter(text) {
      line()
      line(styled('bold', `${++chapters}. ${text}`))
    },
    say(...lines) {
      for (const text of lines) line(`   ${text}`.trimEnd())
    },
    command: (text) => line(`   ${styled('cyan', `$ ${text}`)}`),
    quote(text) {
      for (const each of text.split('\n')) line(`   ${styled('dim', '|')} ${each}`.trimEnd())
    },
    request(method, path, body, status) {
      const target = `${method} ${shortened(path)}`
      const sent = body === undefined ? '' : ` ${cut(shortened(JSON.stringify(body)))}`
      const statusText = styled(status < 300 ? 'green' : 'yellow', String(status))
      line(`   ${styled('cyan', target)}${sent} ${styled('dim', '->')} ${statusText}`)
    },
    event({ type, id, payload }) {
      if (type === 'session_output') output(String(payload.step), String(payload.text))
      else
        line(
          `${id.padStart(6)} ${type.padEnd(21)} ${styled('dim', payloadText(payload))}`.trimEnd(),
        )
    },
    wrote(paths) {
      for (const path of paths) line(`   ${styled('magenta', 'wrote')} ${path}`)
    },
  }
}

/** Lines of TAP that are not test results. */
const TAP_DETAIL = /^\s+|^$|^# |^TAP version|^\d+\.\.\d+/

/** Shortens ids and hashes to eight characters. */
function shortened(text: string): string {
  return text
    .replace(/\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…')
    .replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1…')
}

function cut(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`
}

/** The parts of an event's payload that the story has not shown yet. */
function payloadText(payload: Record<string, unknown>): string {
  const alreadyShown = [
    'case_id',
    'session_id',
    'old_state',
    'tail',
    'language',
    'cwd',
    'timeout_ms',
  ]
  const shown = Object.entries(payload).filter(([key]) => !alreadyShown.includes(key))
  return shown.map(([key, value]) => `${key}=${shortened(valueText(value))}`).join(' ')
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
