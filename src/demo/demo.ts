import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realProgram } from '../files/program-file.ts'
import { AppError } from '../model/app-error.ts'
import { findProgram } from '../runners/process/find-program.ts'
import { quoteForShell } from '../runners/shell-quote.ts'
import { openServer } from '../serve.ts'
import { casePage } from '../web/shell/addresses.ts'
import { type OutputView, runLines, shorten } from './command-output.ts'
import { type DemoWorkspace, makeDemoWorkspace } from './demo-workspace.ts'
import { createNarrator, type Narrator } from './narrator.ts'
import { type TourDeps, tour } from './tour.ts'

interface DemoOptions {
  /** Go through without waiting for anybody. */
  yes?: boolean
  /** Open the console in the browser. */
  open?: boolean
  /** Keep the workspace afterwards. */
  keep?: boolean
  /** Print the story to standard error, and the result as JSON to standard output. */
  json?: boolean
}

interface Programs {
  /** Reads a line from the terminal; null at the end of input. */
  ask(question: string, signal: AbortSignal): Promise<string | null>
  /** The folder of the sample workspace. */
  sample: string
  /** The path of the `casefile` program. */
  program: string
}

/**
 * Plays the whole workflow on a copy of the sample in a temporary folder, which is always removed at the end.
 * Returns the exit code. Throws if it can ask nobody for approval.
 */
export async function demo(programs: Programs, options: DemoOptions): Promise<number> {
  const { stdin, stdout } = process
  if (!options.yes && (options.json || !(stdin.isTTY && stdout.isTTY))) {
    throw new AppError(
      'bad_request',
      'The demo asks before it approves a plan, but there is no terminal to ask on. Run casefile demo --yes to approve in advance (in a checkout: npm run demo -- --yes)',
    )
  }
  const stop = stopSignal()
  const home = await realpath(await mkdtemp(join(tmpdir(), 'casefile-demo-')))
  try {
    await play(programs, home, options, stop.signal)
    if (!stop.signal.aborted) {
      const workspace = options.keep ? join(home, 'workspace') : null
      if (options.json) stdout.write(`${JSON.stringify({ played: true, workspace }, null, 2)}\n`)
      return 0
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error // otherwise the interruption caused the error
  } finally {
    if (!options.keep) await remove(home)
    stop.undo()
  }
  process.stderr.write('casefile: the demo was interrupted\n')
  return 130
}

/** Never throws, so that the exit code says how the demo ended. */
async function remove(home: string): Promise<void> {
  const retries = { maxRetries: 5, retryDelay: 100 }
  await rm(home, { recursive: true, force: true, ...retries }).catch((error: unknown) => {
    process.stderr.write(`casefile: ${home} could not be removed: ${String(error)}\n`)
  })
}

/** Slow enough to follow, fast enough for two minutes. */
const PACE_MS = 600
const QUICK_PACE_MS = 100

async function play(
  programs: Programs,
  home: string,
  options: DemoOptions,
  signal: AbortSignal,
): Promise<void> {
  const { sample } = programs
  const out = options.json ? process.stderr : process.stdout
  const hasColours = out.isTTY === true && !process.env.NO_COLOR
  const narrator = createNarrator({
    write: (text) => out.write(text),
    hasColours,
    columns: Math.min(out.columns ?? 80, 100),
  })
  const paceMs = options.yes ? QUICK_PACE_MS : PACE_MS
  const workspace = await makeDemoWorkspace({ sample, home, paceMs })
  const { root, stateDir } = workspace
  const served = await openServer({ root, stateDir, port: 0 })
  try {
    narrator.title('Casefile: an agent fixes a bug, and you decide')
    narrator.say(
      'About two minutes, on this machine only: no account, no model, no network.',
      'Each command really runs. Long output is shortened.',
      '',
      `workspace  ${root}`,
      `console    ${served.url}`,
    )
    const deps = { ...programs, workspace, hasColours, signal, narrator, options }
    const isWhole = await tour({
      narrator,
      ...createCommands(deps),
      openPage(caseId) {
        if (options.open) showPage(served.url + casePage(caseId), narrator)
      },
    })
    if (isWhole) await sayGoodbye({ ...deps, home })
  } finally {
    await served.close()
  }
}

function showPage(url: string, { say }: Narrator): void {
  say('', `Watch ${url}`)
  void import('open')
    .then(({ default: open }) => open(url))
    .catch((error: unknown) => say(`The browser could not be opened: ${String(error)}`))
}

interface CommandDeps extends Programs {
  workspace: DemoWorkspace
  hasColours: boolean
  signal: AbortSignal
  narrator: Narrator
  options: DemoOptions
}

function createCommands(deps: CommandDeps): Pick<TourDeps, 'run' | 'casefile' | 'step'> {
  const { program, workspace, hasColours, signal, narrator, options } = deps
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CASEFILE_') && name !== 'FORCE_COLOR',
  )
  const env = {
    ...Object.fromEntries(inherited),
    CASEFILE_STATE_DIR: workspace.stateDir,
    ...(hasColours ? { FORCE_COLOR: '1' } : {}),
  }
  const run: TourDeps['run'] = async (command, view = {}) => {
    const print = shorten(view, narrator.output)
    const lines: string[] = []
    const code = await runLines(command, { cwd: workspace.root, env, signal }, (line) => {
      lines.push(line)
      print(line)
    })
    return { code, text: lines.join('\n') }
  }
  const start = (args: readonly string[], view?: OutputView) =>
    run([process.execPath, program, ...args], view)
  return {
    run,
    casefile(args, view) {
      narrator.command(commandText(args))
      return start(args, view)
    },
    async step(args, view, isQuestion = false) {
      narrator.say('')
      narrator.command(commandText(args))
      if (!options.yes) {
        const answer = await deps.ask(narrator.prompt(isQuestion), signal)
        process.stdout.write('\u001b[A\u001b[K') // the prompt
        if (isQuestion && /^n/i.test(answer ?? '')) return null
      }
      return await start(args, view)
    },
  }
}

const PLAIN_WORD = /^[\w./-]+$/

/** A path as a person types it in a shell. */
function typed(path: string): string {
  return PLAIN_WORD.test(path) ? path : quoteForShell(path)
}

function commandText(args: readonly string[]): string {
  const words = args.map((word) => (PLAIN_WORD.test(word) ? word : `"${word}"`))
  return ['casefile', ...words].join(' ')
}

/** Says how to go on, and leaves time to look around. */
async function sayGoodbye(deps: CommandDeps & { home: string }): Promise<void> {
  const { program, workspace, home, narrator, options, signal } = deps
  const { root, stateDir } = workspace
  const casefile = (await isOnPath(program)) ? 'casefile' : `node ${typed(program)}`
  narrator.say('')
  narrator.title('That was Casefile. In your own project:')
  narrator.command(`${casefile} init`, '   finds the agent that you have')
  narrator.command(`${casefile} serve --open`)
  narrator.say('')
  if (options.open && !options.yes) {
    await deps.ask('  Look around in the browser. Enter ends the demo. ', signal)
  }
  if (!options.keep) {
    narrator.say(`The demo ran in ${home}, which is removed. --keep keeps it.`)
    return
  }
  narrator.say(
    `The workspace is kept: ${root}`,
    `To serve it: ${casefile} serve --root ${typed(root)} --state-dir ${typed(stateDir)}`,
  )
}

/** Whether `casefile` starts this program in a shell. */
async function isOnPath(program: string): Promise<boolean> {
  if (/[\\/]node_modules[\\/]/.test(program)) return true
  const where = { path: process.env.PATH, cwd: process.cwd() }
  const found = await findProgram('casefile', where)
  const same = async (path: string) => (await realProgram(path)) === (await realProgram(program))
  return found !== null && (await same(found).catch(() => false))
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Aborts on ctrl-C, SIGTERM, and when the output is closed (as in `| head`). */
function stopSignal(): { signal: AbortSignal; undo(): void } {
  const controller = new AbortController()
  const stop = () => controller.abort()
  for (const name of SIGNALS) process.on(name, stop)
  process.stdout.on('error', stop)
  return {
    signal: controller.signal,
    undo() {
      for (const name of SIGNALS) process.off(name, stop)
    },
  }
}
