import { lazyPackage } from '../package-files.ts'
import type { YamlValue } from './yaml-scalar.ts'

interface JsYaml {
  load(text: string, options: { schema: object }): unknown
  Schema: new (parts: { include: object[]; implicit: object[] }) => object
  Type: new (tag: string, options: object) => object
  FAILSAFE_SCHEMA: object
}

// What every YAML reader reads the same. No part can begin where another one goes on, so matching takes linear time.
const KEY = '[A-Za-z_][\\w-]*:'
const QUOTED = `(?:"(?:[^"\\\\\\r\\n]|\\\\["\\\\/bfnrtu])*"|'(?:[^'\\r\\n]|'')*') *`
const START = '[\\w./~(\\u00a1-\\ufefe]'
const TEXT = `${START}(?:[^\\r\\n#:]|:(?=\\S))*|${QUOTED}`
/** A text in brackets. */
const WORD = `(?:${START}(?:[^\\r\\n#:,[\\]{}]|:(?=[^\\s,[\\]{}]))*|${QUOTED})`
const list = (item: string) => `\\[ *(?:${item}(?:, *|(?=\\])))*\\] *`
const mapping = (value: string) => `\\{ *(?:${KEY} +${value}(?:, *|(?=\\})))*\\} *`
const ITEMS = list(`(?:${WORD}|${mapping(WORD)})`)
const VALUE = `(?:${TEXT}|${ITEMS}|${mapping(`(?:${WORD}|${ITEMS})`)})`
/** Lines of `key: value` and `- item`. No comment and no blank line: gray-matter takes quadratic time in those. */
const ORDINARY = new RegExp(`^(?:(?:${KEY}(?: *| +${VALUE})| *- +${VALUE})\\r?\\n)*$`)
/** A character that some readers take for a space, a line end or an error; a boolean that stays a text; a forbidden key. */
const DOUBTFUL =
  /[^\n\r -~\u00a1-\u2027\u202a-\ufefe\uff00-\ufffd]|\b(?:True|TRUE|False|FALSE)\b|\b(?:__proto__|constructor|prototype):/
const MAX_LENGTH = 10_000

let read: ((head: string) => Record<string, YamlValue>) | undefined

/**
 * Reads the YAML of frontmatter by gray-matter and its js-yaml, which takes a tenth of the strict reader's time. Null if
 * it is not of the ordinary form: the strict reader then decides.
 */
export function ordinaryValues(source: string): Record<string, YamlValue> | null {
  if (source.length > MAX_LENGTH || DOUBTFUL.test(source) || !ORDINARY.test(source)) return null
  read ??= grayMatter()
  try {
    const values = read(`---\n${source}---\n`)
    return Array.isArray(values) ? null : values
  } catch (error) {
    if ((error as Error).name === 'YAMLException') return null
    throw error
  }
}

/** gray-matter with no engine but YAML, always with options: without, it shares what it returns. */
function grayMatter(): (head: string) => Record<string, YamlValue> {
  const matter = lazyPackage('gray-matter') as typeof import('gray-matter')
  const yaml = lazyPackage('js-yaml') as JsYaml
  const schema = valueSchema(yaml)
  const engine = { parse: (text: string) => yaml.load(text, { schema }) as object }
  const engines = { yaml: engine, json: engine, javascript: engine }
  return (head) => matter(head, { language: 'yaml', delimiters: '---', engines }).data
}

/** Types the values that `yaml-value.ts` types, with the same result. */
function valueSchema({ Schema, Type, FAILSAFE_SCHEMA }: JsYaml): object {
  const scalar = (
    tag: string,
    resolve: (text: string) => boolean,
    construct: (text: string) => YamlValue,
  ) => new Type(`tag:yaml.org,2002:${tag}`, { kind: 'scalar', resolve, construct })
  return new Schema({
    include: [FAILSAFE_SCHEMA],
    implicit: [
      scalar(
        'null',
        (text) => /^(?:~|null|Null|NULL)$/.test(text),
        () => null,
      ),
      scalar(
        'bool',
        (text) => text === 'true' || text === 'false',
        (text) => text === 'true',
      ),
      scalar('float', (text) => /^-?\d/.test(text) && String(Number(text)) === text, Number),
    ],
  })
}
