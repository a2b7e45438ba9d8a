/** Runs git with a time limit and an output limit, and without `GIT_*` variables. */

import { type ChildProcess, spawn } from 'node:child_process'

const TWO_MINUTES = 120_000

export interface GitCommandOptions {
  cwd: string
  /** Added to an environment without any `GIT_*` of this process. */
  env?: Record<string, string>
  /** Written to its standard input, which is closed otherwise. */
  input?: string
  /** Git is killed as soon as it has printed more than this many bytes. */
  maxBytes?: number
  timeoutMs?: number
  signal?: AbortSignal
}

export interface GitOutput {
  /** -1 if it was killed for `maxBytes`. */
  exit: number
  stdout: Buffer
  stderr: string
}

/** Whatever the user, the repository or a step has configured, git starts no other program for us. */
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
]

/**
 * Runs git and reports its exit; rejects when it cannot be started (ENOENT: no git, or no such `cwd`),
 * takes longer than 2 minutes, or is aborted (AbortError), and then not before it has ended. It takes
 * no locks that it can do without.
 */
export function runGit(args: string[], options: GitCommandOptions): Promise<GitOutput> {
  const { timeoutMs = TWO_MINUTES, maxBytes = Number.POSITIVE_INFINITY } = options
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...NO_OTHER_PROGRAMS, ...args], {
      cwd: options.cwd,
      env: { ...withoutGitVariables(process.env), ...QUIET, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      signal: options.signal,
    })
    // Not the timeout of spawn: it keeps the process alive for its whole time if there is no git.
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    const stdout = collect(child, 'stdout', maxBytes)
    const stderr = collect(child, 'stderr', 64 * 1024)
    let failure: Error | undefined
    child.on('error', (error) => {
      failure = error
      if (child.pid !== undefined) return
      clearTimeout(timer)
      reject(error)
    })
    // EPIPE: git ended before it read everything; its exit code gives the reason
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error)
    })
    child.stdin.end(options.input ?? '')
    child.on('close', (exit, signal) => {
      clearTimeout(timer)
      const result = { exit: exit ?? -1, stdout: stdout(), stderr: stderr().toString() }
      if (failure !== undefined) reject(failure)
      else if (exit !== null || stdout().length > maxBytes) resolve(result)
      else reject(new Error(`git ${args[0]} was ended by ${signal} (it may take ${timeoutMs} ms)`))
    })
  })
}

/** Standard output of a command that must not fail. */
export async function gitText(args: string[], options: GitCommandOptions): Promise<string> {
  const { exit, stdout, stderr } = await runGit(args, options)
  if (exit === 0) return stdout.toString()
  throw new Error(`git ${args[0]} failed (exit ${exit}): ${stderr.trim()}`)
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

function collect(child: ChildProcess, name: 'stdout' | 'stderr', maxBytes: number): () => Buffer {
  const parts: Buffer[] = []
  let length = 0
  child[name]?.on('data', (part: Buffer) => {
    if (length > maxBytes) return
    parts.push(part)
    length += part.length
    if (length > maxBytes && name === 'stdout') child.kill('SIGKILL')
  })
  return () => Buffer.concat(parts)
}
