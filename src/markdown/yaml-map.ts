import { isAlias, isMap, isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml'
import type { ProblemCode } from '../model/problem.ts'

/** A YAML mapping that still knows where each of its values stands in `source`. */
export interface YamlMap {
  source: string
  pairs: Map<string, Pair>
  /** `{a: b}` in place of a line for each key. */
  flow: boolean
}

export interface YamlProblem {
  code: ProblemCode
  /** Offset into the source. */
  offset: number
  message: string
}

export type YamlResult = { ok: true; map: YamlMap } | { ok: false; problem: YamlProblem }

const MAX_DEPTH = 20
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads frontmatter as YAML 1.2 core and nothing more: no alias, tag, directive or second document,
 * no duplicate or prototype key, at most 20 levels (reliability YM-3). Never throws for bad text.
 */
export function readYaml(source: string): YamlResult {
  if (/^%/m.test(source)) return fail(source.search(/^%/m), 'YAML directives are not read')
  const parsed = parse(source)
  if (!parsed) return fail(0, `more than ${MAX_DEPTH} levels of nesting`)
  const first = parsed.errors[0] ?? parsed.warnings[0]
  if (first) return fail(first.pos[0], first.message.split('\n')[0]!)
  const root = parsed.contents
  if (root === null) {
    return { ok: true, map: { source, pairs: new Map(), flow: false } }
  }
  if (!isMap(root)) {
    return fail(0, 'expected "key: value" lines, found something else')
  }
  const problem = forbidden(parsed)
  if (problem) return { ok: false, problem }
  const pairs = new Map<string, Pair>()
  for (const pair of root.items) pairs.set(keyOf(pair), pair)
  return { ok: true, map: { source, pairs, flow: root.flow === true } }
}

function parse(source: string): ReturnType<typeof parseDocument> | null {
  try {
    return parseDocument(source, {
      version: '1.2',
      schema: 'core',
      stringKeys: true,
      uniqueKeys: false, // the package's own check is quadratic: ours is in `forbidden`
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter: new LineCounter(),
    })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function forbidden(document: ReturnType<typeof parseDocument>): YamlProblem | null {
  let problem: YamlProblem | null = null
  const stop = (offset: number, message: string, code: ProblemCode = 'bad_frontmatter') => {
    problem = { code, offset, message }
    return visit.BREAK
  }
  visit(document, {
    Node(_, node, path) {
      if (path.length > MAX_DEPTH * 2) return stop(0, `more than ${MAX_DEPTH} levels of nesting`)
      if (isAlias(node)) return stop(node.range?.[0] ?? 0, 'aliases (*name) are not read')
      if (!isMap(node)) return undefined
      const seen = new Set<string>()
      for (const pair of node.items) {
        const key = keyOf(pair)
        const at = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0
        if (REFUSED_KEYS.has(key)) return stop(at, `the key "${key}" is not allowed`)
        if (seen.has(key)) return stop(at, `the key "${key}" stands here twice`, 'duplicate_key')
        seen.add(key)
      }
      return undefined
    },
  })
  return problem
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

function fail(offset: number, message: string): YamlResult {
  return { ok: false, problem: { code: 'bad_frontmatter', offset, message } }
}
