/**
 * Runs git with a time limit, an output limit, without inherited `GIT_*` variables, and without programs that the
 * configuration of a repository names: a run may have written it.
 */

import { servicePath, serviceProgram } from '../files/service-program.ts'
import { runProgram } from '../platform/program.ts'
import {
  type ConfigurationEntry,
  FILTER_KEYS,
  PROGRAM_KEYS,
  parseConfiguration,
  pathOfRun,
  programVariables,
} from './configured-programs.ts'
import { GitError, gitFailed } from './git-error.ts'

const TWO_MINUTES = 120_000

export interface GitCommandOptions {
  cwd: string
  /** Added to the environment, from which `GIT_*` variables are removed. */
  env?: Record<string, string>
  /** Standard input; closed if not given. */
  input?: string | Uint8Array
  /** Git is killed as soon as it has printed more than this many bytes. */
  maxBytes?: number
  timeoutMs?: number
  /** Lets git use the SSH command and the password program of the environment, for commands that call a server. */
  isRemote?: boolean
  /**
   * Lets git start the filters and merge drivers that the repository's own configuration names: where the operator asks
   * for what git would do by hand.
   */
  hasPrograms?: boolean
  /** Git's configuration in `cwd`, if it was just read. */
  configuration?: readonly ConfigurationEntry[]
  signal?: AbortSignal
}

export interface GitOutput {
  /** -1 if it was killed for `maxBytes`. */
  exit: number
  stdout: Buffer
  /** Without git's hints. */
  stderr: string
}

/** Options that keep git from starting other programs, whatever the configuration says. */
const NO_OTHER_PROGRAMS = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.pager=cat',
  '-c',
  'gc.auto=0',
  '-c',
  'maintenance.auto=false',
  '-c',
  'submodule.recurse=false',
  '-c',
  'fetch.recurseSubmodules=false',
  '-c',
  'push.recurseSubmodules=no',
  '-c',
  'diff.submodule=short',
  '-c',
  'status.submoduleSummary=false',
]

/**
 * These would run git in each repository inside of the working folder, with that one's filters. So such a repository is
 * compared by the commit it is at. The settings for it would be overruled by `.gitmodules`. `add` has no such option: who
 * uses it keeps these repositories out.
 */
const ENTERING = /^(?:diff|diff-files|diff-index|status)$/
const NOT_ENTERING = '--ignore-submodules=dirty'

/**
 * Runs git and returns its exit code and output. Rejects if git cannot be started (ENOENT: no git, or no such `cwd`),
 * takes longer than 2 minutes, or is aborted (AbortError), but only after git has ended. Takes no optional locks.
 */
export async function runGit(args: string[], options: GitCommandOptions): Promise<GitOutput> {
  if (options.hasPrograms) return runAsIs(args, options)
  return runAsIs(args, {
    ...options,
    env: { ...options.env, ...(await withoutPrograms(args, options)) },
  })
}

async function runAsIs(args: string[], options: GitCommandOptions): Promise<GitOutput> {
  const { cwd, input = '', timeoutMs = TWO_MINUTES, maxBytes = Number.POSITIVE_INFINITY } = options
  const env = {
    ...withoutGitVariables(process.env),
    ...(options.isRemote ? remoteVariables(process.env) : {}),
    ...QUIET,
    PATH: servicePath(),
    ...options.env,
  }
  const { exit, signal, isCut, isStuck, stdout, stderr } = await runProgram(
    {
      file: serviceProgram('git'),
      args: [...NO_OTHER_PROGRAMS, ...withoutEntering(args)],
      cwd,
      env,
      input,
      timeoutMs,
      maxBytes,
    },
    options.signal,
  )
  if (isStuck) throw new GitError(`git ${commandOf(args)} was ended: ${STUCK}`)
  if (exit === null && !isCut) {
    const how =
      signal === 'SIGKILL'
        ? `it may take ${timeoutMs} ms`
        : 'as by a damaged index or object, which git fsck names'
    throw new GitError(`git ${commandOf(args)} was ended by ${signal} (${how})`)
  }
  return { exit: exit ?? -1, stdout, stderr: stderr.replace(/^hint:.*\n?/gm, '') }
}

const STUCK =
  'it waited for a named pipe in place of a file, such as .gitignore or .git/HEAD; find . -type p lists it: remove it'

function withoutEntering(args: readonly string[]): readonly string[] {
  const at = args.findIndex((_, index) => isCommand(args, index))
  return ENTERING.test(args[at] ?? '') ? args.toSpliced(at + 1, 0, NOT_ENTERING) : args
}

/** Commands that read or write files of a working folder through filters, or merge them. */
const THROUGH_FILTERS =
  /^(?:add|apply|checkout|checkout-index|commit|diff|diff-files|hash-object|merge|merge-file|merge-tree|read-tree|rebase|reset|restore|stash|status|switch|update-index|worktree)$/

/**
 * Variables that turn off the filters and merge drivers that the repository's own configuration names, or that a run
 * could have written; others of the user and the system stay. A merge driver is replaced by one that fails: its file is a conflict then.
 */
async function withoutPrograms(
  args: readonly string[],
  options: GitCommandOptions,
): Promise<Record<string, string>> {
  // a repository in scratch has no other configuration than this
  if (options.env?.GIT_CONFIG_COUNT !== undefined) return {}
  if (!THROUGH_FILTERS.test(commandOf(args)) && !args.includes('--filters')) return {}
  const keys = await localPrograms(options)
  const pairs = keys.map((key, index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, /^merge\./.test(key) || /\.required$/.test(key) ? 'false' : ''],
  ])
  return keys.length === 0
    ? {}
    : { ...Object.fromEntries(pairs.flat()), GIT_CONFIG_COUNT: String(keys.length) }
}

/** Empty if there is none. */
function commandOf(args: readonly string[]): string {
  return args.find((_, at) => isCommand(args, at)) ?? ''
}

/** The word after the options of git itself. */
function isCommand(args: readonly string[], at: number): boolean {
  return !args[at]!.startsWith('-') && args[at - 1] !== '-c'
}

/** The keys of the repository's own configuration by which git would start programs for the contents of files. */
async function localPrograms(options: ConfigurationOptions): Promise<string[]> {
  const found = options.configuration ?? (await readConfiguration(options)) ?? []
  const keys = new Set<string>()
  for (const each of found) {
    if (!FILTER_KEYS.test(each.key)) continue
    const isLocal = /^(?:local|worktree)$/.test(each.scope)
    if (isLocal || (await pathOfRun(each, { top: options.cwd }))) keys.add(each.key)
  }
  return [...keys]
}

type ConfigurationOptions = Pick<
  GitCommandOptions,
  'cwd' | 'env' | 'configuration' | 'timeoutMs' | 'signal'
>

/** Git's whole configuration in a folder; null if git cannot read it. `top` is that of its repository. */
export async function readConfiguration(
  { cwd, env = {}, timeoutMs, signal }: ConfigurationOptions,
  top = cwd,
): Promise<ConfigurationEntry[] | null> {
  const { exit, stdout } = await runAsIs(
    ['config', '--null', '--show-scope', '--show-origin', '--list'],
    { cwd, env, ...(timeoutMs ? { timeoutMs } : {}), ...(signal ? { signal } : {}) },
  )
  return exit === 0 ? parseConfiguration(stdout.toString(), top) : null
}

/**
 * A program that git's whole configuration, or a variable of the environment, names, and that a run could have written:
 * as a clause; null if there is none. `cwd` is the top of the repository.
 */
export async function runProgramObjection(
  cwd: string,
  gitFolders: readonly string[],
): Promise<string | null> {
  const configured = (await readConfiguration({ cwd })) ?? []
  const programs = configured.filter(({ key }) => PROGRAM_KEYS.test(key))
  for (const each of [...programs, ...programVariables(process.env)]) {
    const path = await pathOfRun(each, { top: cwd, gitFolders })
    if (path !== null)
      return `${each.key}${each.file && ` (in ${each.file})`} would start or read ${path}, which a run could have written`
  }
  return null
}

/** Why the repository is not used where git reads or writes files through such a program, as a clause; null if it may be. */
export async function programObjection(
  options: Pick<GitCommandOptions, 'cwd' | 'signal'>,
): Promise<string | null> {
  const [program] = await localPrograms(options)
  if (program === undefined) return null
  return `the configuration of the repository names a program (${program}), which a run could have written`
}

/** Returns the standard output of a command; throws if it fails. */
export async function gitText(args: string[], options: GitCommandOptions): Promise<string> {
  const { exit, stdout, stderr } = await runGit(args, options)
  if (exit === 0) return stdout.toString()
  throw gitFailed(commandOf(args), stderr)
}

const QUIET = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  LC_ALL: 'C',
}

function withoutGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
}

/** How git calls a server. */
function remoteVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) =>
    /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_[A-Z_]+|PROXY_COMMAND)$/.test(name),
  )
  return Object.fromEntries(kept)
}
