/**
 * Which shell commands only read, as far as their words show. What is not in these tables counts as writing; see
 * docs/hooks.md.
 */

import { isAllowed } from '../outside-scope.ts'
import {
  commandText,
  type ShellWord,
  type SimpleCommand,
  simpleCommands,
} from '../simple-commands.ts'
import { isReadingGit } from './git.ts'
import { type Arguments, isOnly, mayHave, operandsWith } from './options.ts'
import { isReadingAwk, isReadingSed } from './scripts.ts'

/** They only read, whatever their arguments are. */
const ANY = new Set(
  `: b2sum basename cal cat cd cksum cmp column comm cut df diff dir dirname du echo egrep exa expand expr eza
  false fgrep fmt fold free getconf getent grep groups head hexdump id join jq ls lsblk lscpu md5 md5sum nl nm nproc
  numfmt objdump od paste pgrep popd printenv ps pushd pwd readelf readlink realpath rev seq sha1sum sha224sum sha256sum
  sha384sum sha512sum shasum size sleep stat strings sum sw_vers tac tail tr true tsort tty type uname unexpand uptime
  vdir vmstat w wc whereis which who whoami zcat`.split(/\s+/),
)

/** They only read without these options. */
const WITHOUT = new Map(
  Object.entries({
    ag: '--pager',
    base64: '-o --output',
    bat: '--pager --generate-config-file --lessopen',
    batcat: '--pager --generate-config-file --lessopen',
    fd: '-x -X --exec --exec-batch',
    fdfind: '-x -X --exec --exec-batch',
    file: '-C --compile',
    iconv: '-o --output',
    rg: '--pre --hostname-bin',
    shuf: '-o --output',
    sort: '-o -T --output --compress-program --temporary-directory',
    tree: '-o -R --output',
    yq: '-i -s -w --inplace --in-place --split-exp --security-enable-system-operator',
  }),
)

/** They only read with these options, and at most so many operands. */
const ONLY = new Map<string, [options: string, operands?: number]>(
  Object.entries({
    env: [''],
    hostname: ['-f -s -i -I -d -A --fqdn --long --short --domain --ip-address --all-ip-addresses'],
    // the second operand is written
    uniq: [
      '-c -d -D -i -u -z -f= -s= -w= --count --repeated --all-repeated --group --ignore-case --unique --zero-terminated --skip-fields= --skip-chars= --check-chars=',
      1,
    ],
    xxd: ['-a -b -C -E -e -h -i -p -ps -u -v -d -c= -g= -l= -n= -o= -s=', 1],
  }),
)

/** They only read with these first words, and without these options. */
const SUBCOMMANDS = new Map<string, [first: string, without?: string]>(
  Object.entries({
    gh: [
      'issue list,issue status,issue view,pr checks,pr diff,pr list,pr status,pr view,release list,release view,repo view,run list,run view',
      '-w --web',
    ],
    go: ['env,version', '-w -u --w --u'],
    npm: [
      'config get,config list,explain,la,list,ll,ls,outdated,pkg get,prefix,root,search,show,info,v,view,why',
      '--cache --logs-dir',
    ],
    pip: ['freeze,list,show', '--log --python --cache-dir'],
    pip3: ['freeze,list,show', '--log --python --cache-dir'],
    pnpm: ['list,ls,outdated,why'],
    yarn: ['info,why'],
  }),
)

/** With this one word they print a version, and do nothing else. */
const VERSION = new Map(
  Object.entries({
    '--version':
      'awk bat bun bundle cargo cc clang clang++ cmake composer curl deno docker dotnet eslint fd find g++ gawk gcc gem gh gradle jq java javac jest make mvn node npm npx perl php pip pip3 pnpm poetry prettier pytest python python3 rg ruby rustc rustup sed swift tree tsc uv vitest yarn yq',
    '-V': 'cargo deno pip pip3 python python3 rustc',
    '-v': 'bun node npm npx perl php pnpm ruby yarn',
    '-version': 'java javac',
  }).map(([option, programs]) => [option, programs.split(' ')]),
)

/** The others, each with what makes it read only. */
const JUDGED = new Map<string, (args: Arguments) => boolean>(
  Object.entries({
    '[': isReadingTest,
    '[[': isReadingCondition,
    awk: isReadingAwk,
    date: isReadingDate,
    exit: (args) => args.every(({ text }) => /^\d+$/.test(text)),
    find: isReadingFind,
    gawk: isReadingAwk,
    git: isReadingGit,
    less: isReadingPager,
    mawk: isReadingAwk,
    more: isReadingPager,
    printf: isReadingPrintf,
    read: isReadingIntoVariable,
    sed: isReadingSed,
    test: isReadingTest,
    xargs: isReadingXargs,
  }),
)

/**
 * Why a command may do more than read, as a clause; null if it only reads. `allowed` are the first words of more commands
 * that may run.
 */
export function whyNotReading(command: string, allowed: readonly string[] = []): string | null {
  const commands = command.length > MAX_CHARACTERS ? null : simpleCommands(command)
  if (commands === null || commands.length === 0) return 'it cannot be judged'
  const writing = commands.find((each) => !isReading(each, allowed))
  if (!writing) return null
  const file = writing.written.find(({ text }) => text !== NOWHERE)
  return file === undefined
    ? `"${shortened(commandText(writing))}" is not a command that is known to only read`
    : `it writes ${shortened(file.text)}`
}

const MAX_CHARACTERS = 50_000
const NOWHERE = '/dev/null'

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

const KEYWORD = /^(?:if|then|elif|else|while|until|do|!|time)$/
const CLOSING = /^(?:fi|done)$/
/** Names of variables that mean nothing to a shell or a program. */
const NAME =
  /^(?:[a-z]|branch|commit|dir|entry|ext|file|files|hash|id|item|key|line|module|name|pkg|ref|rev|sha|tag|test|word)$/

/** Whether a command only reads, or begins with the words of an allowed one. */
export function isReading(
  { words: all, written }: SimpleCommand,
  allowed: readonly string[],
): boolean {
  if (written.some(({ text }) => text !== NOWHERE)) return false
  const at = all.findIndex((word) => word.isQuoted || !KEYWORD.test(word.text))
  const words = at < 0 ? [] : all.slice(at)
  if (words.length === 0) return all.length > 0
  if (isAllowed(allowed, { words, written })) return true
  const [{ text, isQuoted }, ...rest] = words as [ShellWord, ...ShellWord[]]
  if (!isQuoted && CLOSING.test(text)) return rest.length === 0
  if (!isQuoted && text === 'for') return isReadingLoop(rest)
  return isReadingProgram(words)
}

/** A program is one of the system's: another path may be a file of the project. */
const PROGRAM = /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?bin\/)?([\w.+:[-]+)$/

function isReadingProgram([word, ...args]: readonly ShellWord[]): boolean {
  const [, name = ''] = (!word?.isExpanded && PROGRAM.exec(word?.text ?? '')) || []
  // braces as words are groups of commands for zsh
  if (name === '' || args.some(({ text, isQuoted }) => !isQuoted && /^[{}]$/.test(text)))
    return false
  if (ANY.has(name)) return true
  if (args.length === 1 && VERSION.get(args[0]!.text)?.includes(name)) return true
  const without = WITHOUT.get(name)
  if (without !== undefined) return !mayHave(args, without) && args[0]?.text !== 'cache'
  const only = ONLY.get(name)
  if (only) return isOnly(args, ...only)
  const subcommands = SUBCOMMANDS.get(name)
  if (subcommands) return isSubcommand(args, ...subcommands)
  return JUDGED.get(name)?.(args) ?? isReadingBehind(name, args)
}

function isSubcommand(args: Arguments, first: string, without = ''): boolean {
  const begins = first.split(',').map((entry) => entry.split(' '))
  const isKnown = begins.some((words) => words.every((word, at) => args[at]?.text === word))
  return isKnown && !mayHave(args, without)
}

/** Programs that run another one, and what may stand in front of it. */
const BEFORE = new Map(
  Object.entries({ command: /^$/, nice: /^-n$|^\d+$/, timeout: /^\d+(?:\.\d+)?[smhd]?$/ }),
)

function isReadingBehind(name: string, args: Arguments): boolean {
  const before = BEFORE.get(name)
  if (!before) return false
  if (name === 'command' && /^-[vV]$/.test(args[0]?.text ?? '')) return true
  return isReadingProgram(args.slice(args.findIndex(({ text }) => !before.test(text))))
}

/** It adds arguments that are not known, so only programs that read with any are allowed. */
function isReadingXargs(args: Arguments): boolean {
  let at = 0
  for (; /^-/.test(args[at]?.text ?? ''); at += 1) {
    const { text } = args[at]!
    if (/^-[ILnPd]$/.test(text)) at += 1
    else if (!/^-(?:[0rt]+|[LnP]\d+|I\S+|-null|-no-run-if-empty)$/.test(text)) return false
  }
  const program = args[at]
  const [, name = ''] = PROGRAM.exec(program?.text ?? '') ?? []
  return !program?.isExpanded && ANY.has(name)
}

const ACTIONS = '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls'.split(' ')

function isReadingFind(args: Arguments): boolean {
  return args.every(({ text, mayBeOption }) => {
    if (!mayBeOption) return !ACTIONS.includes(text)
    if (!/^[\w.*?-]+$/.test(text)) return false
    const glob = new RegExp(`^${text.replace(/[.]/g, '\\.').replace(/[*?]/g, '.$&')}$`)
    return !ACTIONS.some((action) => glob.test(action))
  })
}

function isReadingDate(args: Arguments): boolean {
  const options =
    '-u -R -j -I -Idate -Ihours -Iminutes -Iseconds -Ins -d= -r= -v= --utc --universal --rfc-email --iso-8601 --date= --reference= --rfc-3339='
  return operandsWith(args, options)?.every(({ text }) => text.startsWith('+')) ?? false
}

/** Some shells calculate: they set variables, and run what is in an index (`a[$(…)]`). */
function isReadingTest(args: Arguments): boolean {
  const calculates = args.some(({ text }) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(text))
  return args.every(({ text, isExpanded }) => {
    if (calculates) return /^(?:-?\w+|!|\]{1,2})$/.test(text)
    return !/^-[vR]/.test(text) && (isExpanded || !/[`$]/.test(text))
  })
}

/** A command may follow for zsh: `if [[ -f a ]] ls`. */
function isReadingCondition(args: Arguments): boolean {
  return args.findIndex(({ text }) => text === ']]') === args.length - 1 && isReadingTest(args)
}

function isReadingPrintf([format, ...args]: Arguments): boolean {
  if (!format || format.mayBeOption || format.text.startsWith('-')) return false
  const isText = !format.isExpanded && !/%(?![%sb])/.test(format.text)
  return isText || args.every(({ text }) => /^-?[\w.]*$/.test(text))
}

/** It runs what follows a plus. */
function isReadingPager(args: Arguments): boolean {
  const files = operandsWith(args, '-N -S -R -r -F -X -E -e -i -I -M -m -n -s')
  return files?.every(({ text }) => !text.startsWith('+')) ?? false
}

/** The variable has none of the names that change what is run. */
const isReadingLoop = ([name, word, ...values]: Arguments) =>
  NAME.test(name?.text ?? '') &&
  word?.text === 'in' &&
  values.every(({ text, isExpanded }) => isExpanded || !/[`$]/.test(text))

function isReadingIntoVariable(args: Arguments): boolean {
  return args.every(({ text }, at) => NAME.test(text) || (at === 0 && text === '-r'))
}
