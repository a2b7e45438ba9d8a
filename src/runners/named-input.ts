/** What the input of an agent's tool names. Agents name their inputs differently, so nothing here is about one of them. */

import { asCommand } from './acp/shell-words.ts'
import { asArray, asRecord, parsedJson, type UnknownRecord } from './agents/unknown-record.ts'

export interface Named {
  /** As written; folders of commands are among them. */
  paths: string[]
  commands: string[]
  /** The folder of the commands, which is the base of the paths too. */
  folder: string | null
  /** Short texts that may identify the tool. */
  words: string[]
  /** False if it names more than is read. */
  isWhole: boolean
}

export const MAX_PATHS = 500
export const MAX_WORD = 120
const MAX_DEPTH = 6
const COMMAND_NAMES = /^(?:command|command_line|cmd|script|argv)$/
const ARGUMENT_NAMES = ['args', 'arguments']
const FOLDER_NAMES = /^(?:cwd|workdir|working_directory)$/
/** `new_source` is the text of a cell. */
const PATH_NAMES =
  /^(?!new_source$|old_source$|cell_source$)(?:.*_)?(?:paths?|files?|filename|filepath|dir|directory|cwd|workdir|folder|root|target|source|src|destination|dest|from|to|uri|notebook)$/
/** Inputs that some agents send as JSON in a text. */
const INPUT_NAMES = /^(?:|.*_)(?:args|arguments|input|params|parameters)$/
/** Inputs that may be a patch. */
const PATCH_NAMES = /^(?:|command|(?:.*_)?(?:patch|patch_text|diff|input))$/
const PATCH_PATH =
  /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |(?:---|\+\+\+) (?!\/dev\/null)(?:[ab]\/)?|rename (?:from|to) )([^\t\n]+)/gm

/** Any key that sounds like a path counts, and so does a key that is a path. */
export function namedIn(input: unknown): Named {
  const named: Named = { paths: [], commands: [], folder: null, words: [], isWhole: true }
  const visit = (value: unknown, name: string, depth: number): void => {
    if (depth > MAX_DEPTH || named.paths.length > MAX_PATHS) {
      named.isWhole = false
    } else if (typeof value === 'string') {
      const inner = INPUT_NAMES.test(name) ? parsedInput(value) : null
      if (inner !== null) visit(inner, name, depth + 1)
      if (PATH_NAMES.test(name) || value.startsWith('file://')) named.paths.push(value)
      if (FOLDER_NAMES.test(name)) named.folder = value
      if (PATCH_NAMES.test(name)) named.paths.push(...pathsOfPatch(value))
      if (value.length <= MAX_WORD) named.words.push(value)
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, name, depth + 1)
    } else {
      named.commands.push(...commandsIn(asRecord(value)))
      for (const [key, item] of Object.entries(asRecord(value))) {
        if (/^(?:[/\\~]|\.{1,2}[/\\]|[a-z]:[/\\])/i.test(key)) named.paths.push(key)
        visit(item, snakeCase(key), depth + 1)
      }
    }
  }
  visit(input, '', 0)
  return named
}

/** An input that came as JSON in a text; null for another text. */
export function parsedInput(text: string): UnknownRecord | null {
  const value = /^\s*[{[]/.test(text) ? parsedJson(text) : null
  return value === null ? null : asRecord(value)
}

/** The files that a patch changes: of the form of apply_patch, or a unified diff. */
function pathsOfPatch(text: string): string[] {
  if (!/^(?:\*\*\* |--- |diff )/m.test(text)) return []
  return [...text.matchAll(PATCH_PATH)].map(([, path = '']) => path.trim())
}

/** The command of an input, given as a text or as a list of words, possibly with separate `args`. */
function commandsIn(input: UnknownRecord): string[] {
  const behind = ARGUMENT_NAMES.flatMap((name) => stringsIn(input[name]))
  return Object.entries(input).flatMap(([key, value]) => {
    if (!COMMAND_NAMES.test(snakeCase(key))) return []
    const words = stringsIn(value)
    if (typeof value === 'string') return [[value, asCommand(behind)].join(' ').trim()]
    return words.length > 0 ? [asCommand([...words, ...behind])] : []
  })
}

function stringsIn(value: unknown): string[] {
  return asArray(value).filter((item) => typeof item === 'string')
}

function snakeCase(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase()
}
