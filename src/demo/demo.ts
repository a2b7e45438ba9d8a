import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../client/client.ts'
import { realProgram } from '../files/program-file.ts'
import { AppError } from '../model/app-error.ts'
import { findProgram } from '../runners/process/find-program.ts'
import { quoteForShell } from '../runners/shell-quote.ts'
import { openServer } from '../serve.ts'
import { casePage } from '../web/shell/addresses.ts'
import { runLines, shorten } from './command-output.ts'
import { type DemoWorkspace, makeDemoWorkspace } from './demo-workspace.ts'
import { createNarrator, type Narrator } from './narrator.ts'
import { answerOrDone, until } from './pause.ts'
import { ask } from './question.ts'
import { type Step, type TourDeps, tour } from './tour.ts'

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
  { sample, program }: Programs,
  home: string,
  options: DemoOptions,
  signal: AbortSignal,
): Promise<void> {
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
    const isWhole = await tour({
      client: createClient({ url: served.url }, signal),
      narrator,
      ...createCommands({ program, workspace, hasColours, signal, narrator }),
      openPage(caseId) {
        if (options.open) showPage(served.url + casePage(caseId), narrator)
      },
      wait: (step, isBegun) => wait({ step, isBegun, narrator, options, signal }),
      until: (isSo) => until(isSo, signal),
    })
    if (isWhole) await sayGoodbye({ program, workspace, home, narrator, options, signal })
  } finally {
    await served.close()
  }
}

function showPage(url: string, { say }: Narrator): void {
  say('', `Watch ${url}`, 'From here on, do each step there, or press Enter here.')
  void import('open')
    .then(({ default: open }) => open(url))
    .catch((error: unknown) => say(`The browser could not be opened: ${String(error)}`))
}

interface CommandDeps {
  program: string
  workspace: DemoWorkspace
  hasColours: boolean
  signal: AbortSignal
  narrator: Narrator
}

function createCommands(deps: CommandDeps): Pick<TourDeps, 'run' | 'show' | 'casefile'> {
  const { program, workspace, hasColours, signal, narrator } = deps
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
  return {
    run,
    show: (args) => narrator.command(commandText(args)),
    casefile: (args, view) => run([process.execPath, program, ...args], view),
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

interface WaitDeps {
  step: Step
  isBegun: () => Promise<boolean>
  narrator: Narrator
  options: DemoOptions
  signal: AbortSignal
}

async function wait(deps: WaitDeps): Promise<'yes' | 'no' | 'elsewhere'> {
  const { step, isBegun, narrator, options, signal } = deps
  if (options.open && step.browser !== null) narrator.say(`In the browser: ${step.browser}`)
  narrator.command(commandText(step.args))
  if (options.yes) return 'yes'
  const answer = await answerOrDone(narrator.prompt(step.isQuestion), isBegun, signal)
  process.stdout.write(answer === null ? '\r\u001b[K' : '\u001b[A\u001b[K') // the prompt
  if (answer === null) return 'elsewhere'
  return step.isQuestion && /^n/i.test(answer) ? 'no' : 'yes'
}

interface GoodbyeDeps {
  program: string
  workspace: DemoWorkspace
  home: string
  narrator: Narrator
  options: DemoOptions
  signal: AbortSignal
}

/** Says how to go on, and leaves time to look around. */
async function sayGoodbye(deps: GoodbyeDeps): Promise<void> {
  const { program, workspace, home, narrator, options, signal } = deps
  const { root, stateDir } = workspace
  const casefile = (await isOnPath(program)) ? 'casefile' : `node ${typed(program)}`
  narrator.say('')
  narrator.title('That was Casefile. In your own project:')
  narrator.command(`${casefile} init`, '   finds the agent that you have')
  narrator.command(`${casefile} serve --open`)
  narrator.say('')
  if (options.open && !options.yes) {
    await ask('  Look around in the browser. Enter ends the demo. ', signal)
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
