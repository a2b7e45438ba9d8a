import { execFile } from 'node:child_process'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../client/client.ts'
import { AppError } from '../model/app-error.ts'
import { openServer } from '../serve.ts'
import { createNarrator } from './narrator.ts'
import { confirm } from './question.ts'
import { copySample } from './sample-copy.ts'
import { tour } from './tour.ts'
import { createWrittenFiles } from './written-files.ts'

interface DemoOptions {
  /** Approve without asking. */
  yes?: boolean
  /** Keep the workspace afterwards. */
  keep?: boolean
  /** Print the story to standard error, and the result as JSON to standard output. */
  json?: boolean
}

/** The sample's plan for its bug; the demo reports the same bug as a new case. */
const RUNBOOK = 'memory/cases/c12d54ae-1933-4631-a05f-aecf75428827/runbook.md'

/**
 * Plays the whole workflow on a copy of the sample in a temporary folder, which is always removed at the end.
 * Returns the exit code. Throws if it can ask nobody for approval.
 */
export async function demo(sample: string, options: DemoOptions): Promise<number> {
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
    await play(sample, home, options, stop.signal)
    if (!stop.signal.aborted) {
      const workspace = options.keep ? join(home, 'workspace') : null
      if (options.json) stdout.write(`${JSON.stringify({ played: true, workspace }, null, 2)}\n`)
      return 0
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error // otherwise the interruption caused the error
  } finally {
    if (!options.keep) await rm(home, { recursive: true, force: true })
    stop.undo()
  }
  process.stderr.write('casefile: the demo was interrupted\n')
  return 130
}

async function play(
  sample: string,
  home: string,
  { yes, keep, json }: DemoOptions,
  signal: AbortSignal,
): Promise<void> {
  const { env } = process
  const out = json ? process.stderr : process.stdout
  const workspace = join(home, 'workspace')
  const narrator = createNarrator((text) => out.write(text), out.isTTY === true && !env.NO_COLOR)
  await copySample(sample, workspace)
  const runbook = await readFile(join(workspace, RUNBOOK), 'utf8')
  const served = await openServer({ root: workspace, port: 0, stateDir: join(home, 'state') })
  try {
    narrator.title('Casefile: from a bug to its proof')
    narrator.say(
      `workspace  ${workspace}`,
      '           a copy of the sample, in its own git repository',
      `service    ${served.url}`,
    )
    await tour({
      client: createClient({ url: served.url }, signal),
      narrator,
      runbook,
      run: (program, ...args) => outputOf(program, args, workspace, signal),
      written: await createWrittenFiles(workspace),
      async approve(question) {
        if (!yes) return confirm(question, signal)
        out.write(`${question}yes (--yes)\n`)
        return true
      },
    })
    narrator.title('\nThat was the demo.')
    narrator.say(
      keep ? `The workspace is kept: ${workspace}` : `It ran in ${home}, which has been removed.`,
      ...(keep ? [] : ['To keep the workspace next time, add --keep.']),
      'To try it yourself on a copy of the sample, where a plan for this bug waits for your approval:',
      'casefile sample workspace && casefile serve --root workspace (in a checkout: npm start).',
      'docs/walkthrough.md shows the requests, docs/files.md explains the files.',
    )
  } finally {
    await served.close()
  }
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

/** A command's standard output, whatever its exit code. */
function outputOf(
  program: string,
  args: string[],
  cwd: string,
  signal: AbortSignal,
): Promise<string> {
  const { PATH, HOME, TMPDIR } = process.env
  return new Promise((resolve, reject) => {
    const env = { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }) }
    execFile(program, args, { cwd, env, signal, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => {
      if (error === null || typeof error.code === 'number') return resolve(stdout)
      if (error.code !== 'ENOENT') return reject(error)
      reject(new AppError('bad_request', `The demo needs ${program}, which is not installed.`))
    })
  })
}
