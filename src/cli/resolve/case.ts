import type { ApiReader } from '../../client/client.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { AppError } from '../../model/app-error.ts'
import type { AttentionKind } from '../../model/attention.ts'
import { UUID } from '../../model/name-patterns.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { ReadContext } from '../context.ts'
import { EXIT, exiting, usageError } from '../output/exit-codes.ts'
import { ask } from '../question.ts'

const MOST_SHOWN = 10

/**
 * The id of the case that a word names: its id, the start of its id, or part of its title, case-insensitive. Throws if
 * no case or several match; the message names `listCommand`, which lists all cases.
 */
export async function resolveCase(
  client: ApiReader,
  word: string,
  listCommand = 'casefile list --all',
): Promise<string> {
  if (UUID.test(word)) return word // the next request fails if it does not exist
  const name = word.trim()
  if (name === '') throw notFound(word, listCommand)
  const query = new URLSearchParams({ named: name, limit: String(MOST_SHOWN) })
  const { body, total } = await client.request('GET', `/triage?${query}`)
  const fitting: TriageRowJson[] = body
  if (fitting.length === 1) return fitting[0]!.id
  throw fitting.length === 0
    ? notFound(word, listCommand)
    : ambiguous(word, fitting, total ?? fitting.length)
}

function notFound(word: string, listCommand: string): AppError {
  const message = `No case matches "${visibleText(word)}". Use an id, the start of an id, or part of a title: ${listCommand} shows them.`
  return exiting(EXIT.unknown, new AppError('not_found', message))
}

function ambiguous(word: string, fitting: readonly TriageRowJson[], total: number): AppError {
  const more = total > fitting.length ? [`  and ${total - fitting.length} more`] : []
  const message = [
    `"${visibleText(word)}" matches ${total} cases. Use more of the id or title:`,
    ...linesOf(fitting),
    ...more,
  ].join('\n')
  const candidates = fitting.map(({ id, title, state }) => ({ id, title, state }))
  return exiting(EXIT.unknown, new AppError('not_found', message, { extra: { candidates } }))
}

function linesOf(cases: readonly TriageRowJson[]): string[] {
  const width = Math.max(...cases.map(({ state }) => state.length))
  return cases.map(
    ({ id, title, state }) => `  ${id.slice(0, 8)}  ${state.padEnd(width)}  ${visibleText(title)}`,
  )
}

export interface Choice {
  /** The command that needs a case, such as `approve`. */
  command: string
  /** The kind of attention that the offered cases need. */
  needs: AttentionKind
  /** Such as `a plan to approve`. */
  what: string
}

/** The case that a word names. Without a word, the person chooses among those that need attention. */
export async function resolveOrChooseCase(
  { client, terminal, json, signal }: Pick<ReadContext, 'client' | 'terminal' | 'json' | 'signal'>,
  word: string | undefined,
  { command, needs, what }: Choice,
): Promise<string> {
  if (word !== undefined) return resolveCase(client, word)
  const path = `/triage?needs=${needs}&limit=${MOST_SHOWN}`
  const { body, total } = await client.request('GET', path)
  const waiting: TriageRowJson[] = body
  if (waiting.length === 0) {
    throw usageError(
      `No case has ${what}. Name one: casefile ${command} <case>. Next: casefile list`,
    )
  }
  const more = (total ?? 0) > waiting.length ? [`  and ${total! - waiting.length} more`] : []
  if (json || !terminal.canAsk) {
    const lines = [`Name a case: casefile ${command} <case>. These have ${what}:`]
    throw usageError([...lines, ...linesOf(waiting), ...more].join('\n'))
  }
  if (waiting.length === 1) return waiting[0]!.id
  terminal.say(`Cases with ${what}:`)
  const numbered = linesOf(waiting).map((line, index) => `${String(index + 1).padStart(3)}${line}`)
  for (const line of [...numbered, ...more]) terminal.say(line)
  const answer = await ask(`Which one? [1-${waiting.length}] `, signal)
  const chosen = /^\d+$/.test(answer ?? '') ? waiting[Number(answer) - 1] : undefined
  if (chosen) return chosen.id
  throw usageError(`No case was chosen. Name one: casefile ${command} <case>`)
}
