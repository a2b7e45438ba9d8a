import { confirm } from '../../demo/question.ts'
import { copySample } from '../../demo/sample-copy.ts'
import { doctor } from '../../doctor/command.ts'
import { examine } from '../../doctor/examination.ts'
import { handshakes } from '../../doctor/handshakes.ts'
import { init } from '../../init/init-command.ts'
import { initOnTerminal } from '../../init/init-on-terminal.ts'
import type { InitOptions } from '../../init/needs.ts'
import { type TrustOptions, trust } from '../../trust/command.ts'
import type { PlaceOptions } from '../../workspace/settings/folders.ts'
import { openPlaces } from '../../workspace/settings/places.ts'
import { EXIT } from '../output/exit-codes.ts'
import { ownTerminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'

type WithJson<T> = T & { json?: boolean }

/** `casefile init`. With `json` nothing is asked: what is not given takes its default. */
export async function runInit(options: WithJson<InitOptions>, program: string): Promise<void> {
  if (!options.json) return initOnTerminal(options, program)
  const done: string[] = []
  await init(options, { program, say: (line) => void done.push(line), operator: null })
  ownTerminal().print(jsonText({ done }))
}

/** `casefile trust`. With `json` what is shown goes to standard error. */
export async function runTrust(options: WithJson<TrustOptions>): Promise<number> {
  const { print, warn, canAsk } = ownTerminal()
  const { signal } = new AbortController()
  const code = await trust(options, {
    print: options.json ? (text) => void process.stderr.write(text) : print,
    warn,
    ask: canAsk && !options.json ? (question) => confirm(question, signal) : null,
  })
  if (options.json) print(jsonText({ trusted: code === 0 }))
  return code
}

/** `casefile doctor` */
export async function runDoctor(options: WithJson<PlaceOptions>): Promise<number> {
  const { print, warn } = ownTerminal()
  if (!options.json) return doctor(options, { print, warn })
  const places = await openPlaces(options, process.env, warn)
  const found = await examine(places, process.env)
  const tried = []
  for await (const each of handshakes(places, process.env)) tried.push(each)
  const standard = tried.find(({ id }) => id === found.standard)?.handshake
  const isUsable =
    found.complaint === null && (!standard || (standard.ok && standard.planMode !== null))
  print(jsonText({ usable: isUsable, ...found, handshakes: tried }))
  return isUsable ? EXIT.done : EXIT.refused
}

export interface SampleOptions {
  keep?: boolean
  force?: boolean
  json?: boolean
}

/** `casefile sample` */
export async function runSample(
  sample: string,
  dir: string,
  options: SampleOptions,
): Promise<void> {
  const { print, warn } = ownTerminal()
  const { made, git } = await copySample(sample, dir, options)
  if (options.json) print(jsonText({ folder: dir, made, git }))
  else if (made && !options.keep) warn(`${dir} is a fresh copy of the sample workspace`)
}
