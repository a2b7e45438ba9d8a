/** Which commands of git only read. */

import type { ShellWord } from '../simple-commands.ts'
import { type Arguments, isOnly, mayHave, operandsWith } from './options.ts'

/** They write files, or run programs that attributes, variables or the option itself name. */
const WRITING = '--output --ext-diff --textconv --filters --ext-grep'

/** They only read without the options above. */
const READING = new Set(
  `annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-index diff-tree
  for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch
  show-ref status var version whatchanged`.split(/\s+/),
)

/** The others, each with what makes it read only. */
const JUDGED = new Map<string, (args: Arguments) => boolean>(
  Object.entries({
    branch: (args: Arguments) =>
      isListing(args, '-a --all -r --remotes -v -vv --verbose --show-current'),
    tag: (args: Arguments) => isListing(args, '-n --column'),
    config: isReadingConfig,
    remote: ([first, ...rest]: Arguments) =>
      isOneOf(first, '', '-v', '--verbose') ? rest.length === 0 : isOneOf(first, 'show', 'get-url'),
    stash: ([first, ...rest]: Arguments) =>
      isOneOf(first, 'list', 'show') && !mayHave(rest, WRITING),
    worktree: ([first]: Arguments) => isOneOf(first, 'list'),
    submodule: ([first]: Arguments) => isOneOf(first, '', 'status', 'summary'),
    notes: ([first]: Arguments) => isOneOf(first, '', 'list', 'show'),
    bisect: ([first]: Arguments) => isOneOf(first, 'log'),
    'sparse-checkout': ([first]: Arguments) => isOneOf(first, 'list'),
    reflog: (args: Arguments) =>
      !mayHave(args, WRITING) &&
      !args.some((word) => isOneOf(word, 'expire', 'delete', 'drop', 'write')),
    'ls-remote': (args: Arguments) =>
      isOnly(args, '-h --heads --branches -t --tags --refs -q --quiet --symref', 3) &&
      args.every(({ text }) => /^[\w./*-]+$/.test(text)),
  }),
)

/** Options in front of the command. A variable (`-c`) or another git folder could name programs to run. */
const BEFORE = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs']

export function isReadingGit(args: Arguments): boolean {
  let at = 0
  for (; at < args.length; at += 1) {
    const { text } = args[at]!
    if (text === '-C' && args[at + 1]?.mayBeOption === false) at += 1
    else if (!BEFORE.includes(text)) break
  }
  const [command, ...rest] = args.slice(at)
  if (!command || command.isExpanded) return false
  if (command.text === '--version') return rest.length === 0
  const judge = JUDGED.get(command.text)
  if (judge) return judge(rest)
  // a pager is a program
  const writing = command.text === 'grep' ? `${WRITING} -O --open-files-in-pager` : WRITING
  return READING.has(command.text) && !mayHave(rest, writing)
}

const FILTERS = '--contains= --no-contains= --merged= --no-merged= --points-at='
const LISTING = '-l -i --list --ignore-case --sort= --format= --color --no-color --no-column'

/** A name without an option that lists would be created. */
function isListing(args: Arguments, more: string): boolean {
  const options = `${LISTING} ${FILTERS} ${more} --column --abbrev --no-abbrev`
  const isLimited = args.some(({ text }) =>
    /^(?:-l|--list|-n\d*|--(?:no-)?(?:contains|merged)(?:=.*)?|--points-at(?:=.*)?)$/.test(text),
  )
  // the commit of such an option may be left out
  const plain = args.filter(({ text }) => !/^(?:-n\d+|--(?:no-)?(?:contains|merged))$/.test(text))
  const operands = operandsWith(plain, options)
  return operands !== null && (isLimited || operands.length === 0)
}

const CONFIG_ACTIONS =
  '--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list'
const CONFIG_OPTIONS =
  '--global --local --system --worktree --show-origin --show-scope --name-only -z --null --bool --int --path --includes --no-includes --all --regexp --type= --default= -f= --file= --blob='

function isReadingConfig(args: Arguments): boolean {
  const operands = operandsWith(args, `${CONFIG_ACTIONS} ${CONFIG_OPTIONS}`)
  const [first] = operands ?? []
  if (!operands || operands.some(({ isExpanded }) => isExpanded)) return false
  const actions = CONFIG_ACTIONS.split(' ')
  if (args.some(({ text }) => actions.includes(text))) return true
  // `git config user.name`; in old versions `get` is a name that no variable can have
  return isOneOf(first, 'get', 'list')
    ? operands.length <= 2
    : operands.length === 1 && first!.text.includes('.')
}

/** No word counts as an empty one. */
function isOneOf(word: ShellWord | undefined, ...texts: string[]): boolean {
  return !word?.isExpanded && texts.includes(word?.text ?? '')
}
