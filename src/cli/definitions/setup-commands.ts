import { Command, Option } from 'commander'
import type { CheckOptions } from '../../check/check-command.ts'
import type { MEMORY_KINDS } from '../../init/git-memory.ts'
import type { InitOptions } from '../../init/needs.ts'
import type { TrustOptions } from '../../trust/command.ts'
import type { PlaceOptions } from '../../workspace/settings/folders.ts'
import type { SampleOptions } from '../commands/setup.ts'
import { jsonOption, memoryRootOption, rootOption, stateDirOption } from './arguments.ts'
import { explained } from './explained.ts'

/** Written here too: to load `MEMORY_KINDS` itself would be to load all of git's part for the help. */
const MEMORY_WAYS: typeof MEMORY_KINDS = ['with-code', 'own-repo', 'orphan-worktree']

/** What sets a workspace up, and looks after it. None of it needs a service. */
export function setupCommands({ sample, program }: { sample: string; program: string }): Command[] {
  return [
    initCommand(program),
    checkCommand(),
    doctorCommand(),
    trustCommand(),
    sampleCommand(sample),
  ]
}

function setupCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(rootOption())
    .addOption(memoryRootOption())
    .addOption(stateDirOption())
}

function initCommand(program: string): Command {
  const command = new Command('init')
    .description('make a folder a workspace; asks how git is to keep the cases')
    .addOption(rootOption())
    .addOption(
      new Option('--memory <way>', 'how git keeps the cases, see docs/git.md').choices(MEMORY_WAYS),
    )
    .option('--hook', 'install a pre-commit hook that runs casefile check')
    .option('--no-hook', 'install none')
    .option('--yes', 'take the defaults in place of asking: with-code, and the hook')
    .addOption(jsonOption())
    .action(async (options: InitOptions & { json?: boolean }) => {
      const { runInit } = await import('../commands/setup.ts')
      await runInit(options, program)
    })
  return explained(command, {
    examples: [['casefile init --yes', 'this folder, without a question']],
  })
}

function checkCommand(): Command {
  const command = setupCommand('check', 'look for problems in the files; needs no service')
    .option('--fix', 'mend what has one right answer')
    .option('--json', 'print the problems as one JSON array')
    .action(async (options: CheckOptions) => {
      const { check } = await import('../../check/check-command.ts')
      process.exitCode = await check(options)
    })
  return explained(command, {
    examples: [['casefile check --fix', 'mend, then say what is left']],
    more: 'Its exit codes are its own: 0 no problem, 1 there are problems, 2 it could not check.',
  })
}

function doctorCommand(): Command {
  const command = setupCommand(
    'doctor',
    'say which providers can be used here, and try to talk to them; needs no service',
  )
    .addOption(jsonOption())
    .action(async (options: PlaceOptions & { json?: boolean }) => {
      const { runDoctor } = await import('../commands/setup.ts')
      process.exitCode = await runDoctor(options)
    })
  return explained(command, {
    examples: [['casefile doctor', 'ends with 1 where new sessions could not be planned']],
  })
}

function trustCommand(): Command {
  const command = setupCommand(
    'trust',
    'show settings, folders and files of the project that count only once trusted, and trust them',
  )
    .option('--yes', 'trust it without asking')
    .addOption(jsonOption())
    .action(async (options: TrustOptions & { json?: boolean }) => {
      const { runTrust } = await import('../commands/setup.ts')
      process.exitCode = await runTrust(options)
    })
  return explained(command, { examples: [['casefile trust', 'look, and answer y']] })
}

function sampleCommand(sample: string): Command {
  const command = new Command('sample')
    .argument('<dir>', 'the folder that is to be made')
    .description('copy the sample workspace, as a git repository of its own')
    .option('--keep', 'leave a copy that is there already as it is, and say nothing')
    .option('--force', 'replace a copy that is there already')
    .addOption(jsonOption())
    .action(async (dir: string, options: SampleOptions) => {
      const { runSample } = await import('../commands/setup.ts')
      await runSample(sample, dir, options)
    })
  return explained(command, { examples: [['casefile sample try-it', 'something to play with']] })
}
