import { Command } from 'commander'
import { AppError } from '../../model/app-error.ts'
import type { HeardConversation } from '../../runners/agents/install/levels.ts'
import { findFolders, type PlaceOptions } from '../../settings/folders.ts'
import { explain, setupOptions } from '../command.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'
import { wrapped } from '../output/wrapped.ts'

interface Options extends PlaceOptions {
  json?: boolean
}

export function command(): Command {
  const doctor = new Command('doctor')
    .description(
      'Show which providers can be used here, and try to talk to them. Needs no service.',
    )
    .action(async (options: Options) => {
      process.exitCode = await run(options)
    })
  return explain(doctor, {
    examples: [['casefile doctor', 'Exits with 1 if no provider can plan.']],
    shared: setupOptions(),
  })
}

async function run(options: Options): Promise<number> {
  const { print, warn, width } = ownTerminal()
  if (options.json) return asJson(options)
  const { doctor } = await import('../../doctor/command.ts')
  const terminal = { print: (text: string) => print(wrapped(text, width(), '    ')), warn }
  return doctor(options, terminal, process.env, await heardHere(options))
}

/** What a running service has heard of agents in terminals; a doctor needs none. */
async function heardHere(options: Options): Promise<readonly HeardConversation[]> {
  const folders = await findFolders(options, process.env)
  const { findHeard } = await import('../heard.ts')
  try {
    return (await findHeard(folders)).conversations
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}

async function asJson(options: Options): Promise<ExitCode> {
  const { print, warn } = ownTerminal()
  const [{ openPlaces }, { examine }, { handshakes }] = await Promise.all([
    import('../../settings/places.ts'),
    import('../../doctor/examination.ts'),
    import('../../doctor/handshakes.ts'),
  ])
  const places = await openPlaces(options, process.env, warn)
  const found = await examine(places, process.env, await heardHere(options))
  const tried = []
  for await (const each of handshakes(places, process.env)) tried.push(each)
  const standard = tried.find(({ id }) => id === found.standard)?.handshake
  const isUsable =
    found.objection === null && (!standard || (standard.ok && standard.planMode !== null))
  print(jsonText({ usable: isUsable, ...found, handshakes: tried }))
  return isUsable ? EXIT.done : EXIT.failed
}
