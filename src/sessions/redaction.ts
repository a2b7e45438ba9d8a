import type { Edit } from '../model/case-folder.ts'
import { isFreeText } from '../model/event-lookup.ts'
import type { SessionEdit, SessionFields } from '../model/session.ts'
import type { TrailLine } from '../model/trail.ts'
import type { Store } from '../workspace/store.ts'
import { markOf, type Secret, secretsIn } from './secrets.ts'

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

function createReplacer(secrets: readonly Secret[]): Replacer {
  if (secrets.length === 0) return (text) => ({ done: text, rest: '' })
  const marks = new Map<string, string>()
  for (const { name, text } of secrets) {
    marks.set(Buffer.from(text).toString('latin1'), Buffer.from(markOf(name)).toString('latin1'))
  }
  // marks from an earlier pass stay, even if a password is `redacted`
  for (const mark of [...marks.values()]) marks.set(mark, mark)
  const forms = [...marks.keys()].sort((a, b) => b.length - a.length)
  const longest = forms[0]!.length
  const beginnings = new Set(forms.map((form) => form[0]))
  // the first alternative wins, which is the longest
  const expression = new RegExp(forms.map(escapedForm).join('|'), 'g')

  /** The first position from which the text may be the beginning of a form; its length if there is none. */
  function unfinishedFrom(text: string, from: number): number {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      if (!beginnings.has(text[at])) continue
      const tail = text.slice(at)
      if (forms.some((form) => form.length > tail.length && form.startsWith(tail))) return at
    }
    return text.length
  }

  return (text, isEnd) => {
    let done = ''
    let at = 0
    let until = isEnd ? text.length : unfinishedFrom(text, 0)
    for (const { 0: form, index } of text.matchAll(expression)) {
      if (index >= until) break
      done += text.slice(at, index) + marks.get(form)!
      at = index + form.length
      if (at > until) until = unfinishedFrom(text, at)
    }
    if (at === 0 && until === text.length) return { done: text, rest: '' }
    return { done: done + text.slice(at, until), rest: text.slice(until) }
  }
}

function escapedForm(form: string): string {
  return form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
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
  const pieces = text.split('…')
  return pieces
    .map((piece, index) => {
      let left = piece
      if (index > 0) {
        const end = longestPart(secrets, (secret, size) => left.startsWith(secret.slice(-size)))
        if (end) left = markOf(end.name) + left.slice(end.size)
      }
      if (index === pieces.length - 1) return left
      const begin = longestPart(secrets, (secret, size) => left.endsWith(secret.slice(0, size)))
      return begin ? left.slice(0, -begin.size) + markOf(begin.name) : left
    })
    .join('…')
}

function longestPart(
  secrets: readonly Secret[],
  isThere: (secret: string, size: number) => boolean,
): { name: string; size: number } | null {
  let best: { name: string; size: number } | null = null
  for (const { name, text } of secrets) {
    for (let size = text.length - 1; size >= Math.max(MIN_PART, (best?.size ?? 0) + 1); size--) {
      if (!isThere(text, size)) continue
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
        (folder) => decide(folder).map((edit) => redactedEdit(redactor, edit)),
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
  const { output, candidates } = texts ?? {}
  return {
    ...edit,
    ...(fields ? { fields: redactedFields(redactor, fields) } : {}),
    ...(texts
      ? {
          texts: {
            ...texts,
            ...(output === undefined ? {} : { output: redactor.text(output) }),
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
  return lines.map((line) => {
    const fields = Object.entries(line.fields).map(([key, value]) => [
      key,
      isFreeText(line.event, key, value) ? redactor.value(value) : value,
    ])
    return { ...line, fields: Object.fromEntries(fields) }
  })
}
