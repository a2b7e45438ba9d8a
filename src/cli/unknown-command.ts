import type { Command } from 'commander'
import { nearestName } from '../http/schemas/nearest-name.ts'
import { visibleText } from '../model/visible-text.ts'
import { defaultSubcommand } from './command.ts'

/** Words that people try, by what they probably mean. The names of subcommands need no row. */
const MEANT: Readonly<Record<string, string>> = {
  'agent install': 'hooks',
  approve: 'accept ok',
  comment: 'answer note reply',
  delete: 'rm remove',
  doctor: 'check fix health lint',
  'doctor --trust': 'trust',
  'doctor --notify': 'notify',
  export: 'report pdf html',
  inbox: 'todo waiting',
  init: 'setup',
  list: 'ls cases status',
  new: 'create add',
  open: 'view browse web',
  prove: 'gate proof checklist',
  'prove add': 'attach evidence',
  'prove require': 'item',
  resolve: 'close done finish complete',
  revise: 'reject deny',
  search: 'find grep',
  serve: 'up server console',
  'session apply': 'merge worktree',
  'session stop': 'abandon cancel kill',
  'session watch': 'tail follow logs',
  set: 'edit state update modify rename',
  show: 'cat get view status',
  'show --history': 'history log',
  start: 'run work',
  sync: 'push pull commit',
}

/** The error for words that name no command; null if they name one. */
export function unknownCommand(program: Command, words: readonly string[]): string | null {
  const [first = '', second = ''] = words
  if (isNoWord(first)) return null
  const command = program.commands.find((each) => each.name() === first)
  if (!command) return unknown(first, first, meant(program, first))
  const { commands } = command
  if (commands.length === 0 || isNoWord(second)) return null
  const names = commands.map((each) => each.name())
  if (names.includes(second)) return null
  const nearest = nearestName(second, names)
  // of the default, a first word is its case, and a second one too many
  if (defaultSubcommand(command) && (nearest === null || isNoWord(words[2] ?? ''))) return null
  return unknown(`${first} ${second}`, first, nearest === null ? [] : [`${first} ${nearest}`])
}

function isNoWord(word: string): boolean {
  return word === '' || word === 'help' || word.startsWith('-')
}

function unknown(typed: string, first: string, found: readonly string[]): string {
  const help = first === typed ? 'casefile --help' : `casefile ${first} --help`
  const next = found.length > 0 ? `Did you mean ${found.join(', ')}?` : `${help} lists them.`
  return `no command "${visibleText(typed)}". ${next}`
}

function meant(program: Command, typed: string): string[] {
  const word = typed.toLowerCase()
  const names = program.commands.map((each) => each.name())
  const groups = program.commands.filter((each) => each.helpGroup() === 'Commands')
  const subcommands = groups.flatMap((each) =>
    each.commands.map((sub) => `${each.name()} ${sub.name()}`),
  )
  const found = [
    ...Object.keys(MEANT).filter((name) => MEANT[name]!.split(' ').includes(word)),
    ...subcommands.filter((name) => name.endsWith(` ${word}`)),
    ...names.filter((name) => word.length > 2 && name.startsWith(word)),
  ]
  if (found.length > 0) return [...new Set(found)]
  const nearest = nearestName(word, names)
  return nearest === null ? [] : [nearest]
}
