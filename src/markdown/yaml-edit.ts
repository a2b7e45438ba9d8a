import type { Node, Pair } from 'yaml'
import { AppError } from '../model/app-error.ts'
import { TEXT_KEYS } from '../model/case-fields.ts'
import type { LineEnding } from './lines.ts'
import { ordinaryValues } from './ordinary-front.ts'
import { commentBehind, cutsOf } from './yaml-cut.ts'
import { editedList } from './yaml-list.ts'
import { readYaml, type YamlMap } from './yaml-map.ts'
import { isCollection, isNode, isScalar, isSeq } from './yaml-package.ts'
import { type YamlValue, yamlField, yamlQuoted } from './yaml-scalar.ts'
import { isBlock, valueEnd } from './yaml-span.ts'
import { plainNode } from './yaml-value.ts'

/**
 * Sets one key, or adds it after the last line, by replacing only the bytes of its value: comments, order, quoting
 * and spacing of everything else stay, and an equal value stays unchanged. The result is read again to check that it
 * says exactly this. Before a comment that could be a cut part of the value, a text gets quotes.
 */
export function setKey(source: string, key: string, value: YamlValue, eol: LineEnding): string {
  const values = ordinaryValues(source)
  const before = values && new Map(Object.entries(values))
  if (before?.has(key) && isEqual(before.get(key), value)) return source
  const line = before && withLine(source, before.has(key), key, value, eol)
  if (line) return verifyEdit(before, line, key, value)
  const map = mapOf(source, key)
  const pair = map.pairs.get(key)
  if (pair && isEqual(plainNode(pair.value), value)) return source
  const edited = pair ? replaceValue(map, key, pair, value, eol) : addKey(map, key, value, eol)
  return verifyEdit(valuesOf(map), edited, key, value)
}

/**
 * Sets a key of frontmatter in the ordinary form (`ordinary-front.ts`), where each key begins a line and no comment
 * follows. Null if the value is not on the line of its key, or a list or a mapping.
 */
function withLine(
  source: string,
  isPresent: boolean,
  key: string,
  value: YamlValue,
  eol: LineEnding,
): string | null {
  const text = yamlField(key, value)
  if (!isPresent) return `${source}${key}:${text && ` ${text}`}${eol}`
  const line = new RegExp(`^${key}: +(?=[^\\s[{])`, 'm').exec(source)
  if (!line || text === '') return null
  const from = line.index + line[0].length
  const old = source.slice(from, source.indexOf('\n', from)).replace(/(?<! ) *\r?$/, '')
  return source.slice(0, from) + text + source.slice(from + old.length)
}

/**
 * Removes the line of a key; a comment at its end stays as a line. A key that has no line for itself gets an empty value
 * instead.
 */
export function removeKey(source: string, key: string, eol: LineEnding): string {
  const map = mapOf(source, key)
  const pair = map.pairs.get(key)
  if (!pair) return source
  const edited = withoutLine(map, pair)
  return edited === null
    ? setKey(source, key, null, eol)
    : verifyEdit(valuesOf(map), edited, key, undefined)
}

function mapOf(source: string, key: string): YamlMap {
  const read = readYaml(source)
  if (!read.ok) throw editError(key, read.problem.message)
  return read.map
}

/** Null if the pair is not one whole line. */
function withoutLine({ source, flow }: YamlMap, pair: Pair): string | null {
  if (flow || !isNode(pair.key)) return null
  const [from] = pair.key.range!
  const lineStart = source.lastIndexOf('\n', from - 1) + 1
  const lineEnd = source.indexOf('\n', from)
  if (lineEnd === -1) return null
  const colon = /^\s*:/.exec(source.slice(findKeyEnd(pair)))
  if (!colon || source.slice(lineStart, from).trim() !== '') return null
  const to = isNode(pair.value) ? valueEnd(source, pair.value) : findKeyEnd(pair) + colon[0].length
  const rest = /^[ \t]*(#.*)?\r?$/.exec(source.slice(to, lineEnd))
  if (to > lineEnd || !rest) return null
  const comment = rest[1]
  const after = comment === undefined ? lineEnd + 1 : source.indexOf('#', to)
  return source.slice(0, comment === undefined ? lineStart : from) + source.slice(after)
}

function replaceValue(
  map: YamlMap,
  key: string,
  pair: Pair,
  value: YamlValue,
  eol: LineEnding,
): string {
  const { source, flow } = map
  const keyEnd = findKeyEnd(pair)
  const isCommented = TEXT_KEYS.has(key) && isBeforeComment(source, pair)
  const text =
    value === null && flow
      ? 'null'
      : isCommented && typeof value === 'string'
        ? yamlQuoted(value)
        : yamlField(key, value)
  const colon = /^\s*:/.exec(source.slice(keyEnd))
  if (!colon) return `${source.slice(0, keyEnd)}: ${text}${source.slice(keyEnd)}` // `{ key }`
  const from = keyEnd + colon[0].length
  const node = isNode(pair.value) ? pair.value : null
  if (!node || node.range![0] === node.range![1]) {
    const at = node?.anchor ? node.range![0] : from
    return source.slice(0, at) + (text && ` ${text}`) + source.slice(at)
  }
  if (isCollection(node) && isBlock(node)) {
    return isSeq(node) && Array.isArray(value) && value.length > 0
      ? editedList(source, node, value, eol)
      : inline(source, from, node, text)
  }
  const [start] = node.range!
  const head = text === '' ? source.slice(0, start).trimEnd() : source.slice(0, start) + text
  return head + headerComment(source, node) + source.slice(valueEnd(source, node))
}

/** Behind a value in quotes, too: behind a new one without them, the comment would count as cut from it. */
function isBeforeComment(source: string, pair: Pair): boolean {
  const { value } = pair
  if (cutsOf(source, pair).length > 0) return true
  return isScalar(value) && commentBehind(source, valueEnd(source, value)) !== null
}

/** Moves a value from the lines below its key to the line of the key. */
function inline(source: string, colon: number, node: Node, text: string): string {
  const lineStart = source.lastIndexOf('\n', node.range![0] - 1) + 1
  const comment = source.slice(colon, lineStart).trimEnd()
  const after = source.slice(valueEnd(source, node))
  return source.slice(0, colon) + (text && ` ${text}`) + comment + after
}

/** Returns the comment after a block scalar's `|` or `>`, which is part of its range. */
function headerComment(source: string, node: Node): string {
  if (!isScalar(node) || !node.type?.startsWith('BLOCK')) return ''
  return (
    /^[|>][-+\d]*([ \t]+#[^\r\n]*)/.exec(source.slice(node.range![0], node.range![1]))?.[1] ?? ''
  )
}

function findKeyEnd(pair: Pair): number {
  return isNode(pair.key) ? pair.key.range![1] : 0
}

function addKey(map: YamlMap, key: string, value: YamlValue, eol: LineEnding): string {
  const { source, pairs } = map
  const text = yamlField(key, value)
  const first = pairs.values().next().value
  if (map.flow) {
    const last = [...pairs.values()].at(-1)
    const line = `${key}: ${text || 'null'}`
    if (!last) return `${source.slice(0, map.start + 1)} ${line} ${source.slice(map.start + 1)}`
    const at = isNode(last.value) ? valueEnd(source, last.value) : findKeyEnd(last)
    return `${source.slice(0, at)}, ${line}${source.slice(at)}`
  }
  const lineStart = source.lastIndexOf('\n', map.start - 1) + 1
  const indent = first ? /^ */.exec(source.slice(lineStart, map.start))![0] : ''
  const gap = source === '' || source.endsWith('\n') ? '' : eol
  return `${source}${gap}${indent}${key}:${text && ` ${text}`}${eol}`
}

/** Reads the edited text. Throws unless the key has the value (undefined: is gone) and all other keys are unchanged. */
function verifyEdit(
  before: Map<string, YamlValue>,
  edited: string,
  key: string,
  value: YamlValue | undefined,
): string {
  const values = ordinaryValues(edited)
  const after = values ? new Map(Object.entries(values)) : valuesOf(mapOf(edited, key))
  const isAsMeant = value === undefined ? !after.has(key) : isEqual(after.get(key), value)
  if (!isAsMeant) {
    throw editError(key, 'the value would not read back the same')
  }
  const others = (all: Map<string, YamlValue>) => [...all].filter(([name]) => name !== key)
  if (!isEqual(others(before), others(after))) throw editError(key, 'another key would change')
  return edited
}

function valuesOf({ pairs }: YamlMap): Map<string, YamlValue> {
  return new Map([...pairs].map(([name, pair]) => [name, plainNode(pair.value)]))
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function editError(key: string, why: string): AppError {
  return new AppError(
    'unreadable_file',
    `"${key}" cannot be set without damaging the frontmatter (${why}). Nothing was written; write the key as a plain "${key}: value" line.`,
  )
}
