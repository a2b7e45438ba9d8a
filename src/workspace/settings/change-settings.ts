/** Changes settings in casefile.md without touching the rest of the file. */

import { join } from 'node:path'
import { createDurable, writeDurable } from '../../files/durable-write.ts'
import { readRegular } from '../../files/safe-read.ts'
import { readDocument } from '../../markdown/document.ts'
import { withFields } from '../../markdown/field-edit.ts'
import type { YamlValue } from '../../markdown/yaml-scalar.ts'
import { AppError } from '../../model/app-error.ts'
import { MAX_SETTINGS_BYTES, SETTINGS_FILE } from '../../model/settings.ts'
import { decoded } from '../record.ts'

/** A new text of casefile.md; `before` is null if there is no such file. */
export interface SettingsEdit {
  before: string | null
  after: string
}

/** Settings by their keys in the file; null takes one away. */
export type SettingValues = Readonly<Record<string, YamlValue>>

/** `first` is the text that a new file starts from. Throws `unreadable_file` if the present file cannot be read. */
export async function planSettings(
  root: string,
  values: SettingValues,
  first: string,
): Promise<SettingsEdit> {
  const before = await settingsText(root)
  const present = before ?? first
  const read = readDocument(present)
  const isSet = (key: string) => read.ok && read.document.fields?.has(key) === true
  const fields = Object.entries(values).filter(([key, value]) => value !== null || isSet(key))
  return { before, after: withFields(present, fields, read) }
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
  const why = `${SETTINGS_FILE} cannot be changed: ${text.problem.message}. Nothing was written.`
  throw new AppError('unreadable_file', why)
}
