import { isNode, isScalar, isSeq, type Pair } from 'yaml'
import { Refusal } from '../model/refusal.ts'
import type { LineEnding } from './lines.ts'
import { readYaml, type YamlMap } from './yaml-map.ts'
import { type YamlValue, yamlText } from './yaml-scalar.ts'
import { plainValue } from './yaml-value.ts'

/**
 * The source with one key set, or added after the last line, by replacing only the bytes of its
 * value: comments, order, quoting and spacing of everything else stay. The result is read again,
 * and refused where it would not say exactly this.
 */
export function setYaml(source: string, key: string, value: YamlValue, eol: LineEnding): string {
  const before = readYaml(source)
  if (!before.ok) throw cannot(key, before.problem.message)
  const pair = before.map.pairs.get(key)
  const edited = pair ? replaced(before.map, pair, value, eol) : added(before.map, key, value, eol)
  prove(before.map, edited, key, value)
  return edited
}

function replaced(map: YamlMap, pair: Pair, value: YamlValue, eol: LineEnding): string {
  const { source } = map
  const keyEnd = isNode(pair.key) ? pair.key.range![1] : 0
  const colon = source.indexOf(':', keyEnd) + 1
  const [from, to] = isNode(pair.value) ? pair.value.range! : [colon, colon]
  const empty = source.slice(from, to).trim() === ''
  const start = empty || blockValue(source, pair) ? colon : from
  const end = empty ? colon : endOfValue(source, from, to)
  const text = value === null && map.flow ? 'null' : rendered(pair, source, value, eol)
  const gap = start === colon && text !== '' && !text.startsWith(eol) ? ' ' : ''
  const cut = text === '' && !map.flow ? spaceBefore(source, colon, start) : start
  return source.slice(0, cut) + gap + text + source.slice(end)
}

/** A block scalar's range includes its last line ending, which belongs to the mapping. */
function endOfValue(source: string, from: number, to: number): number {
  let end = to
  while (end > from && /[\r\n]/.test(source[end - 1]!)) end--
  return end
}

function spaceBefore(source: string, colon: number, start: number): number {
  return source.slice(colon, start).trim() === '' ? colon : start
}

/** A sequence or mapping that stands on lines of its own below the key. */
function blockValue(source: string, pair: Pair): boolean {
  if (!isNode(pair.value) || isScalar(pair.value)) return false
  return !/[[{]/.test(source[pair.value.range![0]] ?? '')
}

/** A list that stands as `- item` lines stays one; all else goes on the line of its key. */
function rendered(pair: Pair, source: string, value: YamlValue, eol: LineEnding): string {
  if (!Array.isArray(value) || value.length === 0 || !isSeq(pair.value)) return yamlText(value)
  if (!blockValue(source, pair)) return yamlText(value)
  const first = pair.value.range![0]
  const lineStart = Math.max(source.lastIndexOf('\n', first - 1), -1) + 1
  const indent = source.slice(lineStart, first)
  return value.map((item) => `${eol}${indent}- ${yamlText(item)}`).join('')
}

function added(map: YamlMap, key: string, value: YamlValue, eol: LineEnding): string {
  const text = yamlText(value)
  if (map.flow) {
    const close = map.source.lastIndexOf('}')
    const head = map.source.slice(0, close).trimEnd()
    const comma = map.pairs.size === 0 || head.endsWith(',') ? '' : ','
    return `${head}${comma} ${key}: ${text || 'null'} ${map.source.slice(close)}`
  }
  const gap = map.source === '' || map.source.endsWith('\n') ? '' : eol
  return `${map.source}${gap}${key}:${text ? ` ${text}` : ''}${eol}`
}

function prove(before: YamlMap, edited: string, key: string, value: YamlValue): void {
  const after = readYaml(edited)
  if (!after.ok) throw cannot(key, after.problem.message)
  const wanted = JSON.stringify(value)
  if (JSON.stringify(plainValue(after.map.pairs.get(key))) !== wanted) {
    throw cannot(key, 'the value would not be read back')
  }
  const others = (map: YamlMap) =>
    JSON.stringify(
      [...map.pairs].filter(([name]) => name !== key).map(([n, p]) => [n, plainValue(p)]),
    )
  if (others(before) !== others(after.map)) throw cannot(key, 'another key would change')
}

function cannot(key: string, why: string): Refusal {
  return new Refusal(
    'unreadable_file',
    `"${key}" cannot be set without harming the frontmatter as it stands (${why}). Nothing was written; write the key as a plain "${key}: value" line.`,
  )
}
