/** Changes settings in casefile.md without touching the rest of the file. */

import { join } from 'node:path'
import { decoded } from '../files/decoded.ts'
import { createDurable, writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { readDocument } from '../markdown/document.ts'
import { withFields, withoutFields } from '../markdown/field-edit.ts'
import { readFields } from '../markdown/fields.ts'
import { type YamlValue, yamlField } from '../markdown/yaml-scalar.ts'
import { AppError } from '../model/app-error.ts'
import type { Problem } from '../model/problem.ts'
import { MAX_SETTINGS_BYTES, SETTINGS_FILE } from '../model/settings.ts'

/** A new text of casefile.md; `before` is null if there is no such file. */
export interface SettingsEdit {
  before: string | null
  after: string
}

/** Settings by their keys in the file; null removes the key. */
export type SettingValues = Readonly<Record<string, YamlValue>>

/**
 * The text of casefile.md with these settings. `first` is the text that a new file starts from; a setting that it has
 * as a comment is set where that still stands.
 */
export function settingsWith(present: string, values: SettingValues, first: string): string {
  const read = readDocument(present)
  const isSet = (key: string) => read.ok && read.document.fields?.has(key) === true
  const all = Object.entries(values)
  const fields = all.filter(([, value]) => value !== null)
  const removed = all.filter(([, value]) => value === null).map(([key]) => key)
  const text = fields.reduce(
    (done, [key, value]) => (isSet(key) ? done : withoutMark(done, key, value, first)),
    present,
  )
  try {
    return withoutFields(withFields(text, fields), removed)
  } catch (error) {
    if (error instanceof AppError) throw unchangeable(error.message)
    throw error
  }
}

/** Where the explanations begin in the first casefile.md. */
const COLUMN = 31

/** The text with a setting in place of the comment that `first` has for it; unchanged if that is not there any more. */
function withoutMark(text: string, key: string, value: YamlValue, first: string): string {
  const line = first.split('\n').find((each) => each.startsWith(`# ${key}: `))
  const read = readDocument(text)
  if (line === undefined || !read.ok || read.document.front === null) return text
  const { front, fields } = read.document
  const at = [`\n${line}\n`, `\n${line}\r\n`].map((each) => text.indexOf(each) + 1).find(Boolean)
  if (at === undefined || at < front.start || at >= front.end) return text
  const about = /# [^#]*$/.exec(line)![0]
  const setting = `${key}: ${yamlField(key, value)}`
  const after = `${text.slice(0, at)}${setting.padEnd(COLUMN - 2)}  ${about}${text.slice(at + line.length)}`
  const again = readDocument(after)
  const count = again.ok ? again.document.fields?.size : undefined
  return count === (fields?.size ?? 0) + 1 ? after : text
}

/** Returns whether it had to write. Throws `changed_meanwhile` if the file is not what the edit was made for. */
export async function writeSettings(
  root: string,
  { before, after }: SettingsEdit,
): Promise<boolean> {
  if (before === after) return false
  const path = join(root, SETTINGS_FILE)
  const bytes = Buffer.from(after)
  if (before === null) await createDurable(path, bytes)
  else await writeDurable(path, bytes, { expect: Buffer.from(before) })
  return true
}

/** Null if there is no such file. Throws `unreadable_file`. */
export async function settingsText(root: string): Promise<string | null> {
  const path = join(root, SETTINGS_FILE)
  const read = await readRegular(path, { maxBytes: MAX_SETTINGS_BYTES })
  if (!read.ok && read.reason === 'missing') return null
  const text = decoded(read, SETTINGS_FILE)
  if (text.ok) return text.text
  throw unreadable(text.problem)
}

/** Same. Throws `unreadable_file` also if the frontmatter cannot be read, so that no setting can be changed. */
export async function editableSettings(root: string): Promise<string | null> {
  const text = await settingsText(root)
  const record = text === null ? null : readFields(text, SETTINGS_FILE)
  if (record === null || record.ok) return text
  throw unreadable(record.problem)
}

function unreadable({ line, message }: Problem): AppError {
  const place = line === null ? '' : `line ${line}: `
  return unchangeable(`${place}${message}. Nothing was written. Fix it, then try again.`)
}

function unchangeable(why: string): AppError {
  return new AppError('unreadable_file', `${SETTINGS_FILE} cannot be changed: ${why}`)
}
