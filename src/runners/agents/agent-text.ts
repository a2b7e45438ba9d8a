import { asRecord, asString, parsedJson, type UnknownRecord } from './unknown-record.ts'

const SENTENCE = 300
const MAX_DEPTH = 4
const MAX_TEXT = 20_000
/** The start of a stack trace, and everything after it. */
const STACK =
  /\sat (?:async )?(?:[\w.<>[\] ]{1,300} \()?(?:file:\/\/|node:|\/)\S*:\d+:\d+\)?[\s\S]*$/

/** A run that ended well without a message or an action counts as failed. */
export const DID_NOTHING = 'ended without saying or doing anything'

/**
 * An error as an agent prints it, as part of a sentence: its message without JSON and stack trace, with its status
 * code if there is one, and shortened.
 */
export function errorText(text: string): string {
  const said = withoutStack(text.slice(0, MAX_TEXT)).trim()
  return clauseOf(messageIn(/^\[([^[\]]*)\]$/.exec(said)?.[1] ?? said, 0))
}

export function withoutStack(text: string): string {
  return text.replace(STACK, '')
}

function messageIn(text: string, depth: number): string {
  const start = text.indexOf('{')
  if (start < 0 || depth > MAX_DEPTH) return text
  const end = text.lastIndexOf('}')
  const message = messageOf(asRecord(parsedJson(text.slice(start, end + 1))), depth)
  if (!message) return text
  const before = text.slice(0, start).replace(/^\[|(?<![\s:])[\s:]+$/g, '')
  const behind = text.slice(end + 1).replace(/^\s*\]/, '')
  return [before, message].filter((part) => part !== '').join(': ') + behind
}

function messageOf(error: UnknownRecord, depth: number): string | null {
  const inner =
    typeof error.error === 'object' && error.error !== null ? asRecord(error.error) : error
  const words = asString(inner.message) ?? asString(error.error) ?? asString(error.message)
  if (words === null || words.trim() === '') return null
  const message = messageIn(words.trim(), depth + 1)
  const status = [inner.code, inner.status, error.status, error.code].find(
    (each) => typeof each === 'number' && each >= 100 && each < 600,
  )
  return status === undefined || message.includes(String(status))
    ? message
    : `${message} (${status})`
}

/** The first characters of a text, as a copy: a slice would keep the whole text in memory. */
export function beginningOf(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters)).toString()
}

/** A program's text as part of a sentence: on one line, shortened, without its final period. */
export function clauseOf(text: string, part: 'beginning' | 'end' = 'beginning'): string {
  const line = text.replace(/\s+/g, ' ').trim().toWellFormed()
  if (line.length <= SENTENCE) return withoutStop(line)
  if (part === 'end') return withoutStop(`…${line.slice(-SENTENCE).toWellFormed()}`)
  return `${line.slice(0, SENTENCE).toWellFormed()}…`
}

function withoutStop(line: string): string {
  return line.replace(/(?<![.\s])[.\s]+$/, '')
}
