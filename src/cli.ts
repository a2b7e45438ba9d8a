#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { packageVersion } from './build.ts'
import { CHECK_EXIT, type CheckOptions, check } from './check/check-command.ts'
import { demo } from './demo/demo.ts'
import { confirm } from './demo/question.ts'
import { copySample } from './demo/sample-copy.ts'
import { initOnTerminal } from './init/init-on-terminal.ts'
import type { InitOptions } from './init/needs.ts'
import { Refusal } from './model/refusal.ts'
import { type ServeOptions, serve } from './serve.ts'
import { type TrustOptions, trust } from './trust/command.ts'
import { MEMORY_KINDS } from './workspace/git/git-memory.ts'

const program = new Command('casefile')
  .description(
    'Keeps the record of AI-assisted work in markdown files: what was planned, approved, done and proved.',
  )
  .version(await packageVersion())
  .showHelpAfterError()

program
  .command('serve')
  .description('serve a workspace on 127.0.0.1')
  .addOption(rootOption())
  .addOption(
    new Option('--port <n>', 'the port; 0 takes a free one')
      .env('CASEFILE_PORT')
      .default(7878)
      .argParser(portOf),
  )
  .addOption(memoryRootOption())
  .addOption(stateDirOption())
  .addOption(
    new Option('--trust', 'trust, without asking, what casefile trust shows').default(false),
  )
  .addOption(
    new Option('--dev', 'answer the provider endpoints too').env('CASEFILE_DEV').default(false),
  )
  .action((options: ServeOptions, command: Command) => {
    const isEnv = command.getOptionValueSource('dev') === 'env' // commander takes any value for on
    return serve({ ...options, ...(isEnv ? { dev: switchOf('CASEFILE_DEV') } : {}) })
  })

program
  .command('check')
  .description('look for problems in the files of a workspace; needs no service')
  .addOption(rootOption())
  .addOption(memoryRootOption())
  .addOption(stateDirOption())
  .option('--fix', 'mend what has one right answer')
  .option('--json', 'print the problems as one JSON array')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : CHECK_EXIT.failed))
  .action(async (options: CheckOptions) => {
    process.exitCode = await check(options)
  })

program
  .command('init')
  .description('make a folder a workspace; asks how git is to keep the cases')
  .addOption(rootOption())
  .addOption(
    new Option('--memory <way>', 'how git keeps the cases, see docs/git.md').choices(MEMORY_KINDS),
  )
  .option('--hook', 'install a pre-commit hook that runs casefile check')
  .option('--no-hook', 'install none')
  .option('--yes', 'take the defaults in place of asking: with-code, and the hook')
  .action((options: InitOptions) => initOnTerminal(options, fileURLToPath(import.meta.url)))

program
  .command('trust')
  .description(
    'show what casefile.md and cases ask for that counts only once trusted, and trust it',
  )
  .addOption(rootOption())
  .addOption(memoryRootOption())
  .addOption(stateDirOption())
  .option('--yes', 'trust it without asking')
  .action(async (options: TrustOptions) => {
    const { stdin, stdout, stderr } = process
    process.exitCode = await trust(options, {
      print: (text) => stdout.write(text),
      warn: (line) => stderr.write(`casefile: ${line}\n`),
      ask:
        stdin.isTTY && stdout.isTTY
          ? (question) => confirm(question, new AbortController().signal)
          : null,
    })
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

function rootOption(): Option {
  return new Option('--root <dir>', 'the workspace')
    .env('CASEFILE_ROOT')
    .default('.', 'the current folder')
    .argParser(folderOf)
}

function memoryRootOption(): Option {
  return new Option(
    '--memory-root <dir>',
    'where the files are (default: memory/ in the workspace)',
  )
    .env('CASEFILE_MEMORY_ROOT')
    .argParser(folderOf)
}

function stateDirOption(): Option {
  return new Option(
    '--state-dir <dir>',
    "this machine's own state (default: below $XDG_STATE_HOME)",
  )
    .env('CASEFILE_STATE_DIR')
    .argParser(folderOf)
}

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
