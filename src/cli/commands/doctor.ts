import { Command } from 'commander'
import type { PlaceOptions } from '../../workspace/settings/folders.ts'
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
  return doctor(options, { print: (text) => print(wrapped(text, width(), '    ')), warn })
}

async function asJson(options: Options): Promise<ExitCode> {
  const { print, warn } = ownTerminal()
  const [{ openPlaces }, { examine }, { handshakes }] = await Promise.all([
    import('../../workspace/settings/places.ts'),
    import('../../doctor/examination.ts'),
    import('../../doctor/handshakes.ts'),
  ])
  const places = await openPlaces(options, process.env, warn)
  const found = await examine(places, process.env)
  const tried = []
  for await (const each of handshakes(places, process.env)) tried.push(each)
  const standard = tried.find(({ id }) => id === found.standard)?.handshake
  const isUsable =
    found.objection === null && (!standard || (standard.ok && standard.planMode !== null))
  print(jsonText({ usable: isUsable, ...found, handshakes: tried }))
  return isUsable ? EXIT.done : EXIT.failed
}
