import type { Scalar } from 'yaml'
import { keyOf } from './yaml-map.ts'
import { isMap, isScalar, isSeq } from './yaml-package.ts'
import type { YamlValue } from './yaml-scalar.ts'

/**
 * Returns the value of a node. A plain scalar is the text as written: `0123` is the text 0123 and `1.10` is 1.10,
 * since a title that looks like a number is still a title. Only an empty value, `null`, `~`, `true`, `false` and
 * canonical integers are typed.
 */
export function plainNode(node: unknown): YamlValue {
  if (isScalar(node)) return scalarValue(node.value, node.source, node.type)
  if (isSeq(node)) return node.items.map(plainNode)
  if (isMap(node)) {
    return Object.fromEntries(node.items.map((pair) => [keyOf(pair), plainNode(pair.value)]))
  }
  return null
}

/** Returns a scalar as written, whatever its YAML type; null if there is none or it is empty. */
export function scalarText(node: unknown): string | null {
  const value = isScalar(node) ? plainNode(node) : null
  if (value === null) return null
  return (typeof value === 'boolean' ? (node as Scalar).source : undefined) ?? String(value)
}

function scalarValue(
  value: unknown,
  source: string | undefined,
  type: string | undefined,
): YamlValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (type !== 'PLAIN' || source === undefined) return String(value)
  if (typeof value === 'boolean') return value
  if (typeof value === 'number' && String(value) === source) return value
  return source
}
