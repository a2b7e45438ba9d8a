import type { Pair } from 'yaml'
import {
  OWN_PROVIDER,
  PROMPT_BY,
  type PromptBy,
  type ProviderSettings,
  type Settings,
  STREAMS,
  type StreamName,
} from '../model/settings.ts'
import { SLUG, SLUG_RULE } from '../model/words.ts'
import { placeOf, type StrictYaml, type YamlPlace } from './strict-yaml.ts'

const COMMAND_RULE = 'a command as a list of its words, such as [my-agent, --plan]'
const ARGS_RULE = 'a list of arguments, such as [--model, opus]'
const FORM_RULE =
  '{ kind: command, plan: […], work: […], prompt: stdin }, { kind: acp, command: […], plan_mode: plan, work_mode: code } or { preset: claude, args: […] }'

/** Reads `providers` of casefile.md. A provider with any mistake is ignored. */
export function readProviders(
  yaml: StrictYaml,
  place: YamlPlace,
): Pick<Settings, 'providers' | 'faulty'> {
  const providers = new Map<string, ProviderSettings>()
  const faulty: string[] = []
  for (const [name, pair] of yaml.pairs(place, 'a mapping of names to providers') ?? []) {
    const inner = placeOf(place.path, name, pair)
    const provider = yaml.faultless(() => {
      mustBeFree(yaml, name, inner)
      return readProvider(yaml, inner)
    })
    if (provider) providers.set(name, provider)
    else faulty.push(name)
  }
  return { providers, faulty }
}

function mustBeFree(yaml: StrictYaml, name: string, place: YamlPlace): void {
  if (!SLUG.test(name)) yaml.wrong(place, `it under a name that is ${SLUG_RULE}`)
  if (name === OWN_PROVIDER)
    yaml.wrong(place, `it under another name: ${name} is the service's own`)
}

function readProvider(yaml: StrictYaml, place: YamlPlace): ProviderSettings | null {
  const pairs = yaml.pairs(place, FORM_RULE)
  if (!pairs) return null
  const pairOf = (key: string) => pairs.find(([name]) => name === key)?.[1]
  if (pairOf('preset')) return readPreset(yaml, place, pairs)
  const kind = pairOf('kind')
  if (!kind) return yaml.wrong(place, FORM_RULE)
  const isKind = (text: string) => text === 'command' || text === 'acp'
  switch (yaml.text(placeOf(place.path, 'kind', kind), 'command or acp', isKind)) {
    case 'command':
      return readCommand(yaml, place, pairs)
    case 'acp':
      return readAcp(yaml, place, pairs)
    default:
      return null
  }
}

type Pairs = [string, Pair][]

function readCommand(yaml: StrictYaml, place: YamlPlace, pairs: Pairs): ProviderSettings {
  const set = yaml.known(place.path, pairs, ['kind', 'plan', 'work', 'prompt', 'stream'])
  const stream = oneOf<StreamName>(yaml, set.get('stream'), STREAMS)
  return {
    kind: 'command',
    plan: words(yaml, place, set, 'plan'),
    work: set.has('work') ? words(yaml, place, set, 'work') : null,
    prompt: oneOf<PromptBy>(yaml, set.get('prompt'), PROMPT_BY) ?? 'stdin',
    ...(stream && stream !== 'plain' ? { stream } : {}),
  }
}

function oneOf<T extends string>(
  yaml: StrictYaml,
  place: YamlPlace | undefined,
  names: readonly T[],
): T | null {
  const isName = (text: string) => (names as readonly string[]).includes(text)
  return place ? (yaml.text(place, `one of ${names.join(', ')}`, isName) as T | null) : null
}

function readAcp(yaml: StrictYaml, place: YamlPlace, pairs: Pairs): ProviderSettings {
  const set = yaml.known(place.path, pairs, ['kind', 'command', 'plan_mode', 'work_mode'])
  const mode = (key: string) => {
    const found = set.get(key)
    return found ? yaml.text(found, "the agent's own name of a mode, such as plan", isWord) : null
  }
  return {
    kind: 'acp',
    command: words(yaml, place, set, 'command'),
    planMode: mode('plan_mode'),
    workMode: mode('work_mode'),
  }
}

function readPreset(yaml: StrictYaml, place: YamlPlace, pairs: Pairs): ProviderSettings {
  const set = yaml.known(place.path, pairs, ['preset', 'args'])
  const rule = `the name of a preset: ${SLUG_RULE}`
  const preset = set.get('preset')
  const args = set.get('args')
  return {
    kind: 'preset',
    preset:
      (preset
        ? yaml.text(preset, rule, (text) => SLUG.test(text))
        : yaml.missing(place, 'preset', rule)) ?? '',
    args: (args && yaml.texts(args, wordsOf(ARGS_RULE))) ?? [],
  }
}

/** Reads the words of a required command. */
function words(
  yaml: StrictYaml,
  place: YamlPlace,
  set: Map<string, YamlPlace>,
  key: string,
): string[] {
  const found = set.get(key)
  if (!found) yaml.missing(place, key, COMMAND_RULE)
  const command = found && yaml.texts(found, wordsOf(COMMAND_RULE))
  if (command && !command[0]) yaml.wrong(found, COMMAND_RULE)
  return command ?? []
}

function wordsOf(list: string) {
  return { list, item: 'a text (quote it where it holds { or [)', fits: isText }
}

function isText(text: string): boolean {
  return !text.includes('\0') // no program can be given one
}

function isWord(text: string): boolean {
  return text.trim() !== '' && isText(text)
}
