#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { packageVersion } from './build.ts'
import { demo } from './demo/demo.ts'
import { copySample } from './demo/sample-copy.ts'
import { Refusal } from './model/refusal.ts'
import { type ServeOptions, serve } from './serve.ts'

const program = new Command('casefile')
  .description(
    'Keeps the record of AI-assisted work in markdown files: what was planned, approved, done and proved.',
  )
  .version(await packageVersion())
  .showHelpAfterError()

program
  .command('serve')
  .description('serve a workspace on 127.0.0.1')
  .addOption(
    new Option('--root <dir>', 'the workspace')
      .env('CASEFILE_ROOT')
      .default('.', 'the current folder')
      .argParser(folderOf),
  )
  .addOption(
    new Option('--port <n>', 'the port; 0 takes a free one')
      .env('CASEFILE_PORT')
      .default(7878)
      .argParser(portOf),
  )
  .addOption(
    new Option('--memory-root <dir>', 'where the files are (default: memory/ in the workspace)')
      .env('CASEFILE_MEMORY_ROOT')
      .argParser(folderOf),
  )
  .addOption(
    new Option('--state-dir <dir>', "this machine's own state (default: below $XDG_STATE_HOME)")
      .env('CASEFILE_STATE_DIR')
      .argParser(folderOf),
  )
  .addOption(
    new Option('--dev', 'answer the provider endpoints too').env('CASEFILE_DEV').default(false),
  )
  .action((options: ServeOptions, command: Command) => {
    const isEnv = command.getOptionValueSource('dev') === 'env' // commander takes any value for on
    return serve({ ...options, ...(isEnv ? { dev: switchOf('CASEFILE_DEV') } : {}) })
  })

program
  .command('sample <dir>')
  .description('copy the sample workspace, as a git repository of its own')
  .option('--keep', 'leave a copy that is there already as it is, and say nothing')
  .option('--force', 'replace a copy that is there already')
  .action(async (dir: string, options: { keep?: boolean; force?: boolean }) => {
    const { made } = await copySample(samplePath(), dir, options)
    if (made && !options.keep)
      process.stderr.write(`casefile: ${dir} is a fresh copy of the sample workspace\n`)
  })

program
  .command('demo')
  .description('play the whole flow on a temporary copy of the sample workspace')
  .option('--yes', 'approve the plan without asking')
  .option('--keep', 'leave the temporary copy, to look around in it')
  .action(async (options: { yes?: boolean; keep?: boolean }) => {
    process.exit(await demo(samplePath(), options)) // see serve
  })

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a number from 0 to 65535.')
}

/** An empty name would be taken for the workspace itself. */
function folderOf(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('Expected a folder.')
}

function switchOf(name: string): boolean {
  const text = process.env[name] ?? ''
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new Refusal('bad_request', `${name} is "${text}". Set it to 1 or true, 0 or false.`)
}

/** A variable that is set to nothing counts as not set. */
function withoutEmpty(environment: NodeJS.ProcessEnv): void {
  for (const { envVar } of program.commands.flatMap((command) => command.options)) {
    if (envVar !== undefined && environment[envVar] === '') delete environment[envVar]
  }
}

/** Beside dist/ in the package, and beside src/ in a checkout. */
function samplePath(): string {
  return fileURLToPath(new URL('../sample-workspace', import.meta.url))
}

try {
  withoutEmpty(process.env)
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`casefile: ${error.message}\n`)
  process.exitCode = 1
}
