import type { Edit } from '../model/case-contents.ts'
import { isFreeText } from '../model/event-lookup.ts'
import type { SessionEdit, SessionFields } from '../model/session.ts'
import type { NewFileLine, TrailLine } from '../model/trail.ts'
import { isFields, KEY_EVENTS } from '../model/trail-lines.ts'
import type { Store } from '../workspace/store.ts'
import { markOf, type Secret, secretsIn } from './secrets.ts'
import {
  endOf,
  expressionOf,
  isBeginning,
  longestOf,
  plainForm,
  shortestOf,
  type WrittenForms,
  writtenForms,
} from './written-forms.ts'

/** Replaces every secret with `[redacted NAME]`, in everything that is recorded. Redacting twice changes nothing. */
export interface Redactor {
  text(text: string): string
  /** Redacts every text in a JSON value. */
  value<T>(value: T): T
  stream(): RedactedStream
  /** Adds secrets that are found only in the settings. */
  learn(secrets: readonly Secret[]): void
}

/** Redacts bytes that arrive in pieces, including a secret that spans two of them. */
export interface RedactedStream {
  /** Returns the bytes that are safe by now; holds back a possible beginning of a secret. */
  write(bytes: Buffer): Buffer
  /** Returns the rest. */
  end(): Buffer
}

/** A redactor for the secrets in this environment. */
export function createRedactor(environment: NodeJS.ProcessEnv): Redactor {
  let secrets: readonly Secret[] = secretsIn(environment)
  let replace = createReplacer(secrets)
  const text = (text: string): string => {
    if (secrets.length === 0) return text
    const bytes = Buffer.from(text).toString('latin1')
    const { done } = replace(bytes, true)
    return withoutCut(secrets, done === bytes ? text : Buffer.from(done, 'latin1').toString())
  }
  return {
    text,
    value: (value) => (secrets.length === 0 ? value : mapTexts(value, text)),
    learn(more) {
      const known = new Set(secrets.map((each) => each.text))
      const added = more.filter((each) => !known.has(each.text))
      if (added.length === 0) return
      secrets = [...secrets, ...added]
      replace = createReplacer(secrets)
    },
    stream() {
      let held = ''
      return {
        write(bytes) {
          if (secrets.length === 0) return bytes
          const came = held + bytes.toString('latin1')
          const { done, rest } = replace(came, false)
          const isUnchanged = held === '' && done === came
          held = rest
          return isUnchanged ? bytes : Buffer.from(done, 'latin1')
        },
        end() {
          const { done } = replace(held, true)
          held = ''
          return Buffer.from(done, 'latin1')
        },
      }
    },
  }
}

/**
 * Changes every text in a JSON value; lists keep at most `maxItems` of their items. As in JSON, members that are
 * undefined are left out.
 */
export function mapTexts<T>(
  value: T,
  change: (text: string) => string,
  maxItems = Number.POSITIVE_INFINITY,
): T {
  const mapped = (item: unknown): unknown => {
    if (typeof item === 'string') return change(item)
    if (Array.isArray(item)) return item.slice(0, maxItems).map(mapped)
    if (typeof item !== 'object' || item === null) return item
    const members = Object.entries(item).filter(([, member]) => member !== undefined)
    return Object.fromEntries(members.map(([key, member]) => [key, mapped(member)]))
  }
  return mapped(value) as T
}

/**
 * Texts have one character for each byte. `rest` may be the beginning of a secret; pass it in again before the bytes
 * that follow.
 */
type Replacer = (text: string, isEnd: boolean) => { done: string; rest: string }

/** So many characters of a secret are searched for; what follows is compared. */
const SEARCHED = 3

function createReplacer(secrets: readonly Secret[]): Replacer {
  if (secrets.length === 0) return (text) => ({ done: text, rest: '' })
  const names = new Set(secrets.map(({ name }) => markOf(name)))
  const wanted = [
    ...secrets.map(({ name, text }) => ({ forms: writtenForms(text), mark: markOf(name) })),
    // marks from an earlier pass stay, even if a password is `redacted`
    ...[...names].map((mark) => ({ forms: plainForm(mark), mark })),
  ].map(({ forms, mark }) => ({ forms, mark: Buffer.from(mark).toString('latin1') }))
  wanted.sort((a, b) => shortestOf(b.forms) - shortestOf(a.forms))
  const longest = Math.max(...wanted.map(({ forms }) => longestOf(forms)))
  const byBeginning = new Map<string, typeof wanted>()
  for (const each of wanted) {
    for (const first of new Set(each.forms[0]!.map((form) => form[0]!)))
      byBeginning.set(first, [...(byBeginning.get(first) ?? []), each])
  }
  // a whole one would be too long for the compiler of regular expressions
  const starts = wanted.map(({ forms }) => expressionOf(forms.slice(0, SEARCHED)))
  const expression = new RegExp(starts.join('|'), 'g')

  /** The first position from which the text may be the beginning of a secret; its length if there is none. */
  function unfinishedFrom(text: string, from: number): number {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      if (byBeginning.get(text[at]!)?.some(({ forms }) => isBeginning(forms, text, at))) return at
    }
    return text.length
  }

  /** The first secret from a position on; of several at one place, the longest. */
  function findNext(text: string, from: number) {
    expression.lastIndex = from
    for (;;) {
      const index = expression.exec(text)?.index
      if (index === undefined) return null
      for (const { forms, mark } of byBeginning.get(text[index]!)!) {
        const end = endOf(forms, text, index)
        if (end >= 0) return { index, end, mark }
      }
      expression.lastIndex = index + 1
    }
  }

  return (text, isEnd) => {
    let done = ''
    let at = 0
    let until = isEnd ? text.length : unfinishedFrom(text, 0)
    for (let found = findNext(text, 0); found; found = findNext(text, at)) {
      if (found.index >= until) break
      done += text.slice(at, found.index) + found.mark
      at = found.end
      if (at > until) until = unfinishedFrom(text, at)
    }
    if (at === 0 && until === text.length) return { done: text, rest: '' }
    return { done: done + text.slice(at, until), rest: text.slice(until) }
  }
}

/** Shorter parts say little about a secret and match by chance. */
const MIN_PART = 6
/** Longer texts are not messages that somebody shortened with `…`. */
const MAX_CUT_TEXT = 4096

/**
 * Redacts secrets in short messages that were shortened with `…` before redaction: the beginning of a secret before
 * the `…`, or the end of one after it.
 */
function withoutCut(secrets: readonly Secret[], text: string): string {
  if (text.length > MAX_CUT_TEXT || !text.includes('…')) return text
  const pieces = text.split('…').map((piece) => Buffer.from(piece).toString('latin1'))
  const all = secrets.map(({ name, text }) => ({ name, forms: writtenForms(text) }))
  const reversed = all.map(({ name, forms }) => ({
    name,
    forms: forms.map((each) => each.map(backwards)).reverse(),
  }))
  return pieces
    .map((piece, index) => {
      const end = index > 0 ? longestEnd(all, piece) : null
      const left = end
        ? Buffer.from(markOf(end.name)).toString('latin1') + piece.slice(end.size)
        : piece
      const begin = index < pieces.length - 1 ? longestEnd(reversed, backwards(left)) : null
      const kept = begin ? left.slice(0, -begin.size) : left
      return Buffer.from(kept, 'latin1').toString() + (begin ? markOf(begin.name) : '')
    })
    .join('…')
}

function backwards(text: string): string {
  return [...text].reverse().join('')
}

/** The secret of whose end most is at the beginning of a text. */
function longestEnd(
  secrets: readonly { name: string; forms: WrittenForms }[],
  text: string,
): { name: string; size: number } | null {
  let best: { name: string; size: number } | null = null
  for (const { name, forms } of secrets) {
    for (let from = 1; from <= forms.length - MIN_PART; from++) {
      const size = endOf(forms, text, 0, from)
      if (size <= (best?.size ?? 0)) continue
      best = { name, size }
      break
    }
  }
  return best
}

/**
 * A store that removes secrets from everything the service records about a run. Hypothesis and plan are not changed
 * here, because hashes cover the text that the operator read: an agent's texts are redacted earlier, and the
 * operator's are their own words.
 */
export function redactedUpdates(store: Store, redactor: Redactor): Store {
  return {
    ...store,
    update: (id, decide, options) =>
      store.update(
        id,
        (contents) => decide(contents).map((edit) => redactedEdit(redactor, edit)),
        options,
      ),
  }
}

function redactedEdit(redactor: Redactor, edit: Edit): Edit {
  if (edit.file === 'session') return { ...edit, edit: redactedSession(redactor, edit.edit) }
  if (edit.file !== 'new-session') return edit
  const { session } = edit
  return { ...edit, session: { ...session, trail: redactedLines(redactor, session.trail) } }
}

function redactedSession(redactor: Redactor, edit: SessionEdit): SessionEdit {
  const { fields, texts, lines } = edit
  const { output, changes, candidates } = texts ?? {}
  return {
    ...edit,
    ...(fields ? { fields: redactedFields(redactor, fields) } : {}),
    ...(texts
      ? {
          texts: {
            ...texts,
            ...(output === undefined ? {} : { output: redactor.text(output) }),
            ...(changes === undefined ? {} : { changes: redactor.text(changes) }),
            // files are found by the names of the artifacts
            ...(candidates
              ? {
                  candidates: candidates.map((each) => ({
                    ...each,
                    note: redactor.text(each.note),
                  })),
                }
              : {}),
          },
        }
      : {}),
    ...(lines ? { lines: redactedLines(redactor, lines) } : {}),
  }
}

/** The others are a state, a time, a hash and counts. */
function redactedFields(redactor: Redactor, fields: SessionFields): SessionFields {
  const { diff, failed_tests } = fields
  return {
    ...fields,
    ...(diff === undefined ? {} : { diff: redactor.value(diff) }),
    ...(failed_tests === undefined ? {} : { failed_tests: redactor.value(failed_tests) }),
  }
}

/**
 * Names, ids, hashes and words of lists stay as they are, even if a secret has the same text: the trail would become
 * unreadable, and a session could not be found by them.
 */
function redactedLines(redactor: Redactor, lines: readonly TrailLine[]): TrailLine[] {
  const redacted = ({ event, fields }: NewFileLine): NewFileLine => {
    const safe = Object.entries(fields).map(([key, value]) => {
      const inner = KEY_EVENTS.get(key)
      if (inner && isFields(value)) return [key, redacted({ event: inner, fields: value }).fields]
      return [key, isFreeText(event, key, value) ? redactor.value(value) : value]
    })
    return { event, fields: Object.fromEntries(safe) }
  }
  return lines.map((line) => {
    const { written } = line
    const safe = { ...line, ...redacted(line), ...(written ? { written: redacted(written) } : {}) }
    return safe as TrailLine
  })
}
