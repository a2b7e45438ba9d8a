import { Command, InvalidArgumentError, Option } from 'commander'
import { AppError } from '../../model/app-error.ts'
import type { ServeOptions } from '../../serve.ts'
import { explain, memoryRootOption, rootOption, stateDirOption } from '../command.ts'

export function command(): Command {
  const serve = new Command('serve')
    .description('Serve a workspace on this machine only.')
    .addOption(
      new Option(
        '--port <n>',
        'Port; 0 takes a free one. By default the next free one from this on.',
      )
        .env('CASEFILE_PORT')
        .default(7878)
        .argParser(portOf),
    )
    .option('--open', 'Open the console in the browser.')
    .addOption(
      new Option('--trust', 'Trust, without asking, what casefile doctor --trust shows.').default(
        false,
      ),
    )
    .addOption(
      new Option('--no-mount', 'Do not use read-only mounts to keep agents from writing.').env(
        'CASEFILE_NO_MOUNT',
      ),
    )
    .addOption(
      new Option('--dev', 'Answer the provider endpoints too.').env('CASEFILE_DEV').default(false),
    )
    .action(async (options: ServeOptions, command: Command) => {
      const isEnv = (name: string) => command.getOptionValueSource(name) === 'env' // commander reads any value as on
      const chosen = {
        ...options,
        orNext: command.getOptionValueSource('port') === 'default',
        ...(isEnv('dev') ? { dev: switchOf('CASEFILE_DEV') } : {}),
        ...(isEnv('mount') ? { mount: !switchOf('CASEFILE_NO_MOUNT') } : {}),
      }
      const { serve } = await import('../../serve.ts')
      await serve(chosen)
    })
  return explain(serve, {
    examples: [
      ['casefile serve', 'Serve this folder at http://127.0.0.1:7878.'],
      ['casefile serve --root ~/shop --port 0 --open', 'Serve another folder, and look at it.'],
    ],
    shared: [
      rootOption(),
      memoryRootOption(),
      stateDirOption(),
      new Option('--json', 'Print the address as one line of JSON.'),
    ],
  })
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('Expected a number from 0 to 65535.')
}

function switchOf(name: string): boolean {
  const text = process.env[name] ?? ''
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw new AppError('bad_request', `${name} is "${text}". Set it to 1 or true, 0 or false.`)
}
