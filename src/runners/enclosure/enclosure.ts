/** Where the programs of one run are started and ended: a helper with its pipes, for all of them. */

import type { Readable, Writable } from 'node:stream'
import { codeOf } from '../../files/errno.ts'
import { rootPath } from '../../platform/proc.ts'
import { signalProcess } from '../../platform/processes.ts'
import { endProcessGroup } from '../process/process-group.ts'
import type { HeldProgram, Helper, ProgramExit } from './helper-process.ts'
import { startScript } from './start-script.ts'
import type { PipeFolder, StandardInput, StepPipes } from './step-pipes.ts'

export interface EnclosedProgram {
  /** A program, as an absolute path, and its arguments. */
  words: readonly string[]
  cwd: string
  /** The real path of a folder; if `cwd` leads elsewhere, the program does not run. */
  within?: string | undefined
  /** The whole environment except PWD. */
  env: Record<string, string>
  stdin: StandardInput
  signal: AbortSignal
}

export interface Launched {
  /** Also its process group, as soon as it runs. */
  pid: number
  /** Null if there is nothing to write to. */
  stdin: Writable | null
  stdout: Readable
  stderr: Readable
  exited: Promise<ProgramExit>
  hasExited(): boolean
  /** Lets the program run. Call it once. */
  begin(): void
  /** Ends its process group, see `endProcessGroup`. Kills the helper if it does not report the exit: it may be stopped. */
  end(graceMs: number): Promise<void>
}

/** Why nothing was started: an error code of the system, or `ELAUNCH: ` and the words of the helper. */
export interface NotLaunched {
  startError: string
}

export interface Enclosure {
  /** Starts a program that waits for `begin`. One at a time. */
  start(program: EnclosedProgram): Promise<Launched | NotLaunched>
  /** A path to the root folder as its programs see it; null before the first one and after the end. */
  root(): string | null
  end(): Promise<void>
}

export interface Enclosed {
  helper: Helper
  pipes: PipeFolder
  /** The environment of the helper. */
  env: Record<string, string>
}

/** Entering a folder on a dead file server may hang forever. */
const READY_WITHIN_MS = 30_000
const REPORT_WITHIN_MS = 3_000

/** `open` is called with the environment of a program if there is no helper. `inner` are words before each program. */
export function createEnclosure(
  open: (env: Record<string, string>) => Promise<Enclosed | { failure: string }>,
  inner: readonly string[],
  opened: Enclosed | null = null,
): Enclosure {
  let present = opened

  async function close(): Promise<void> {
    const closed = present
    present = null
    await closed?.pipes.remove()
    await closed?.helper.end()
  }

  return {
    root: () => (present?.helper.isAlive() ? rootPath(present.helper.pid) : null),
    end: close,
    async start({ words, cwd, within, env, stdin, signal }) {
      let pipes: StepPipes | null = null
      try {
        if (!present?.helper.isAlive()) {
          await close()
          const enclosed = await open(env)
          if ('failure' in enclosed) return { startError: `ELAUNCH: ${enclosed.failure}` }
          present = enclosed
        }
        const { helper, env: inherited } = present
        pipes = await present.pipes.next(stdin)
        const facts = { words: [...inner, ...words], cwd, within, env, inherited }
        const script = startScript({ ...facts, ...pipes.names })
        const late = AbortSignal.timeout(READY_WITHIN_MS)
        const held = await helper.hold(script, AbortSignal.any([signal, late]))
        if (!('failure' in held)) return launched(held, pipes, helper)
        pipes.close()
        const why = late.aborted ? `not ready within ${READY_WITHIN_MS / 1000} s` : held.failure
        return { startError: `ELAUNCH: ${why.trim().replace(/\s+/g, ' ')}` }
      } catch (error) {
        pipes?.close()
        const code = codeOf(error)
        if (code === '') throw error
        return { startError: code }
      }
    },
  }
}

function launched({ pid, exited, go }: HeldProgram, pipes: StepPipes, helper: Helper): Launched {
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  const { stdout, stderr } = pipes
  const end = async (graceMs: number) => {
    await endProcessGroup(pid, graceMs, () => !isOver)
    const late = setTimeout(helper.kill, REPORT_WITHIN_MS)
    await exited
    clearTimeout(late)
  }
  try {
    const stdin = pipes.handOver()
    return { pid, stdin, stdout, stderr, exited, hasExited: () => isOver, begin: go, end }
  } catch (error) {
    signalProcess(pid, 'SIGKILL')
    throw error
  }
}
