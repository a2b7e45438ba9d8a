import { isClosed } from '../../model/attention.ts'
import type { CaseState } from '../../model/case-state.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession } from '../resolve/session.ts'
import { type WholeCase, wholeCase, wholeCaseWithContents } from '../resolve/whole-case.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'
import { caseText } from './case-text.ts'

/** `casefile show`: a case with all that belongs to it, or one of its sessions. */
export async function show(
  console: ReadingConsole,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const { client, terminal, json } = console
  const id = await resolveCase(client, name)
  if (word !== undefined) {
    const session = await resolveSession(client, id, word)
    if (json) terminal.print(jsonText(session))
    else {
      const { printSession } = await import('./session-text.ts')
      await printSession(console, session)
    }
    return EXIT.done
  }
  if (json) {
    terminal.print(jsonText(await wholeCaseWithContents(client, id)))
    return EXIT.done
  }
  const whole = await wholeCase(client, id)
  terminal.print(await caseText(whole, console))
  sayNext(terminal, whole)
  return EXIT.done
}

/** The one step that is the operator's now, if there is one. */
function sayNext(terminal: Terminal, { id, state, sessions, gate }: WholeCase): void {
  const name = id.slice(0, 8)
  const waiting = sessions.find((session) => session.state === 'plan_ready')
  const newest = sessions.find(({ number }) => sessions.every((other) => other.number <= number))
  if (waiting) terminal.say(`\nNext: casefile approve ${name} ${waiting.number}`)
  else if (isClosed(state as CaseState)) return
  else if (newest?.state === 'failed') terminal.say(`\nNext: casefile start ${name} --again`)
  else if (gate.open) terminal.say(`\nNext: casefile resolve ${name}`)
  else if (sessions.length === 0) terminal.say(`\nNext: casefile start ${name}`)
}
