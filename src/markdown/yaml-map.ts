import type { Document, Pair } from 'yaml'
import type { ProblemCode } from '../model/problem.ts'
import { type YamlProblem, yamlDocument } from './yaml-document.ts'
import { isAlias, isMap, isNode, isScalar, yamlPackage } from './yaml-package.ts'

/** A YAML mapping with the position of each value in `source`. */
export interface YamlMap {
  source: string
  pairs: Map<string, Pair>
  /** Whether it is written as `{a: b}` and not with a line per key. */
  flow: boolean
  /** Offset of the mapping's first character. */
  start: number
}

export type YamlResult = { ok: true; map: YamlMap } | { ok: false; problem: YamlProblem }

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
/** Characters that are not printable (YAML 1.2 §5.1), or a line ending only for some readers. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/

/** Cache, latest last: one write reads its text before, during and after an edit. */
const recent = new Map<string, YamlResult>()
const MOST_RECENT = 3

/**
 * Reads frontmatter as strict YAML 1.2 core: no alias, tag, merge key, directive, second document, duplicate or
 * prototype key, at most 20 levels. Never throws for bad text. The result may be shared, so do not change it.
 */
export function readYaml(source: string): YamlResult {
  const result = recent.get(source) ?? parsedYaml(source)
  recent.delete(source)
  recent.set(source, result)
  if (recent.size > MOST_RECENT) recent.delete(recent.keys().next().value!)
  return result
}

function parsedYaml(source: string): YamlResult {
  const at = source.search(FORBIDDEN_CHARACTER)
  if (at >= 0) {
    const hex = source.charCodeAt(at).toString(16).padStart(2, '0')
    return fail(at, `the character 0x${hex} is not allowed in frontmatter`)
  }
  const parsed = yamlDocument(source)
  if (parsed && 'offset' in parsed) return { ok: false, problem: parsed }
  const root = parsed?.contents ?? null
  if (!parsed || root === null) {
    return { ok: true, map: { source, pairs: new Map(), flow: false, start: source.length } }
  }
  if (!isMap(root)) {
    return fail(root.range[0], 'expected "key: value" lines, found something else')
  }
  const problem = forbidden(parsed)
  if (problem) return { ok: false, problem }
  const pairs = new Map<string, Pair>()
  for (const pair of root.items) pairs.set(keyOf(pair), pair)
  return { ok: true, map: { source, pairs, flow: root.flow === true, start: root.range[0] } }
}

function forbidden(document: Document.Parsed): YamlProblem | null {
  const { visit } = yamlPackage()
  let problem: YamlProblem | null = null
  const stop = (offset: number, message: string, code: ProblemCode = 'bad_frontmatter') => {
    problem = { code, offset, message }
    return visit.BREAK
  }
  visit(document, {
    Node(_, node) {
      const from = node.range?.[0] ?? 0
      if (isAlias(node)) return stop(from, 'aliases (*name) are not allowed')
      if (node.tag !== undefined) return stop(from, `tags (${node.tag}) are not allowed`)
      if (!isMap(node)) return undefined
      const seen = new Set<string>()
      for (const pair of node.items) {
        const key = keyOf(pair)
        const at = isNode(pair.key) ? (pair.key.range?.[0] ?? from) : from
        if (FORBIDDEN_KEYS.has(key)) return stop(at, `the key "${key}" is not allowed`)
        if (key === '<<') return stop(at, 'merge keys (<<) are not allowed')
        if (seen.has(key)) return stop(at, `the key "${key}" appears twice`, 'duplicate_key')
        seen.add(key)
      }
      return undefined
    },
  })
  return problem
}

export function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

function fail(offset: number, message: string): YamlResult {
  return { ok: false, problem: { code: 'bad_frontmatter', offset, message } }
}
