/** Which programs git's configuration names, and which of them a run could have written. */

import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import which from 'which'
import { isFolder } from '../files/folder-names.ts'
import { stampOf } from '../files/safe-read.ts'
import { isOfRun, servicePath } from '../files/service-program.ts'

/** Keys that name programs. Hooks, pager and `core.fsmonitor` are not here: `runGit` turns them off. */
export const PROGRAM_KEYS = keyPattern([
  'filter\\..*\\.(clean|smudge|process)',
  'merge\\..*\\.driver',
  'diff\\.(external|.*\\.(command|textconv))',
  'gpg\\.(.*\\.)?(program|defaultkeycommand)',
  'core\\.(sshcommand|askpass|editor|gitproxy|alternaterefscommand)',
  'sequence\\.editor',
  'credential\\.(.*\\.)?helper',
  'remote\\..*\\.(uploadpack|receivepack|url|pushurl)',
  'url\\..*\\.(push)?insteadof',
  'uploadpack\\.packobjectshook',
])
/** Those by which git would start programs for the contents of files. */
export const FILTER_KEYS = keyPattern([
  'filter\\..*\\.(clean|smudge|process|required)',
  'merge\\..*\\.driver',
])

/** The name of a subsection may have any character. */
function keyPattern(keys: readonly string[]): RegExp {
  return new RegExp(keys.map((key) => `^${key}$`).join('|'), 's')
}

export interface ConfigurationEntry {
  scope: string
  /** The configuration file; empty if it is none, such as for a variable of the environment. */
  file: string
  key: string
  value: string
}

/** The programs that variables name. */
export function programVariables(environment: NodeJS.ProcessEnv): ConfigurationEntry[] {
  return VARIABLES.map((key) => ({
    scope: 'environment',
    file: '',
    key,
    value: environment[key] ?? '',
  }))
}

const VARIABLES = ['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_PROXY_COMMAND']

/** Parses the output of `git config --null --show-scope --show-origin --list`. */
export function parseConfiguration(stdout: string, top: string): ConfigurationEntry[] {
  const words = stdout.split('\0')
  return words.flatMap((entry, at) => {
    if (at % 3 !== 2) return []
    const [key = '', ...lines] = entry.split('\n')
    const file = /^file:(.*)$/s.exec(words[at - 1]!)?.[1]
    return {
      scope: words[at - 2]!,
      file: file === undefined ? '' : resolve(top, file),
      key,
      value: lines.join('\n'),
    }
  })
}

/**
 * The path that a run could have written: of the program, of a word in its command line, or of the configuration file.
 * Null if there is none. The configuration of the repository itself, in `gitFolders`, is closed to runs.
 */
export async function pathOfRun(
  { file, key, value }: ConfigurationEntry,
  { top, gitFolders = [] }: { top: string; gitFolders?: readonly string[] },
): Promise<string | null> {
  const base = /^url\.(.*)\.[^.]+$/s.exec(key)?.[1]
  const url = base ?? (/^remote\..*url$/s.test(key) ? value : null)
  const folder = url === null ? null : folderOfUrl(url, top)
  // git starts what the repository there names; one in a temporary folder is there to try something
  if (folder !== null) return isOfRun(folder, true) ? folder : null
  const paths = await pathsIn(url === null ? value : (/^\w+::(.*)/s.exec(url)?.[1] ?? ''), top)
  const isOwn = /^config(\.worktree)?$/.test(basename(file)) && gitFolders.includes(dirname(file))
  const all = file === '' || isOwn ? paths : [...paths, file]
  return all.find((path) => isOfRun(path)) ?? null
}

function folderOfUrl(url: string, top: string): string | null {
  const path = url.replace(/^file:\/\//, '')
  return /^[^/]*:/.test(path) ? null : resolve(top, path)
}

/** What a command line, or a line for the shell, may name. */
async function pathsIn(line: string, top: string): Promise<string[]> {
  const home = process.env.HOME || homedir()
  const plain = line
    .replace(/\$\{?HOME\b\}?|(?<![^\s"'=:!])~(?=\/)/g, home)
    .replace(/\$\{?\w+\}?|["'\\]/g, '')
  const words = plain.split(/[\s`;:|&()<>{}$=,!]+/).filter(Boolean)
  const found = words.map(async (word, at) => {
    // `sh clean` reads a file of the folder; `$top/clean` looks absolute
    const inside = join(top, word)
    const isFile = (await stampOf(inside)) !== null && !(await isFolder(inside))
    const isNamed = isFile || /^\.{0,2}\//.test(word) || at === 0
    if (word.includes('/')) return isNamed ? [resolve(top, word), ...(isFile ? [inside] : [])] : []
    const program = which.sync(word, { nothrow: true, path: servicePath() })
    return [...(program === null ? [] : [program]), ...(isFile ? [inside] : [])]
  })
  // a folder's name may contain spaces
  const rests = [...plain.matchAll(/(?<![^\s`;:|&()<>{}$=,!])\//g)].map(({ index }) =>
    resolve(plain.slice(index)),
  )
  return [...(await Promise.all(found)).flat(), ...rests]
}
