import type { Pair } from 'yaml'
import { isMap, isNode, isScalar, isSeq } from './yaml-package.ts'
import { plainNode, scalarText } from './yaml-value.ts'

/** A value with its key path, and the offset of its key, or of itself in a list. */
export interface YamlPlace {
  path: string
  node: unknown
  at: number
}

export type YamlPairs = Iterable<[key: string, pair: Pair]>

export interface ListRule {
  list: string
  item: string
  fits(text: string): boolean
}

/**
 * Reads values of given types at any depth. A wrong value is reported with the received and expected value, and reads
 * as null.
 */
export interface StrictYaml {
  wrong(place: YamlPlace, expected: string): null
  missing(place: YamlPlace, key: string, expected: string): null
  /** Returns the values of known keys; reports unknown keys and skips keys without a value. */
  known(path: string, pairs: YamlPairs, keys: readonly string[]): Map<string, YamlPlace>
  pairs(place: YamlPlace, expected: string): [string, Pair][] | null
  items(place: YamlPlace, expected: string): YamlPlace[] | null
  /** Returns a scalar as written: `8080` and `true` are texts too. */
  text(place: YamlPlace, expected: string, fits: (text: string) => boolean): string | null
  /** Returns a list of texts; null if any is wrong. */
  texts(place: YamlPlace, rule: ListRule): string[] | null
  /** Returns the result of `read` if it reported nothing. */
  faultless<T>(read: () => T): T | null
}

/** `report` gets an offset into the YAML and the problem. */
export function strictYaml(report: (at: number, message: string) => void): StrictYaml {
  let reports = 0
  function tell(at: number, message: string): null {
    reports++
    report(at, message)
    return null
  }
  function wrong({ path, node, at }: YamlPlace, expected: string): null {
    return tell(at, `${path}: found ${shown(node)}, expected ${expected}`)
  }
  function items(place: YamlPlace, expected: string): YamlPlace[] | null {
    const { node, path, at } = place
    if (!isSeq(node)) return wrong(place, expected)
    const placeAt = (item: unknown, index: number) => ({
      path: `${path}[${index}]`,
      node: item,
      at: startOf(item) ?? at,
    })
    return node.items.map(placeAt)
  }
  function text(place: YamlPlace, expected: string, fits: (text: string) => boolean) {
    const written = scalarText(place.node)
    return written !== null && fits(written) ? written : wrong(place, expected)
  }
  return {
    wrong,
    items,
    text,
    missing: ({ path, at }, key, expected) =>
      tell(at, `${path}: ${key} is missing, expected ${expected}`),
    known(path, pairs, keys) {
      const set = new Map<string, YamlPlace>()
      for (const [key, pair] of pairs) {
        const inner = placeOf(path, key, pair)
        if (keys.includes(key)) {
          if (plainNode(pair.value) !== null) set.set(key, inner)
          continue
        }
        const found = `${inner.path} is not known (found ${shown(pair.value)})`
        tell(inner.at, `${found}, expected one of ${keys.join(', ')}`)
      }
      return set
    },
    pairs(place, expected) {
      if (!isMap(place.node)) return wrong(place, expected)
      return place.node.items.map((pair) => [keyOf(pair), pair])
    },
    texts(place, { list, item, fits }) {
      const found = items(place, list)?.map((each) => text(each, item, fits)) ?? [null]
      return found.every((item) => item !== null) ? found : null
    },
    faultless(read) {
      const before = reports
      const value = read()
      return reports === before ? value : null
    },
  }
}

export function placeOf(path: string, key: string, pair: Pair): YamlPlace {
  return {
    path: path === '' ? key : `${path}.${key}`,
    node: pair.value,
    at: startOf(pair.key) ?? 0,
  }
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

const SHOWN = 60

function shown(node: unknown): string {
  const text = JSON.stringify(plainNode(node))
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
