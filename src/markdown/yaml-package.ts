import type * as Yaml from 'yaml'
import { lazyPackage } from '../package-files.ts'

let loaded: typeof Yaml | undefined

/** The package `yaml`, loaded on first use. */
export function yamlPackage(): typeof Yaml {
  loaded ??= lazyPackage('yaml') as typeof Yaml
  return loaded
}

// What tells nodes apart. A node comes from the package, so for one these load nothing.

export function isAlias(node: unknown): node is Yaml.Alias {
  return yamlPackage().isAlias(node)
}

export function isCollection<K, V>(node: unknown): node is Yaml.YAMLMap<K, V> | Yaml.YAMLSeq<V> {
  return yamlPackage().isCollection<K, V>(node)
}

export function isMap<K, V>(node: unknown): node is Yaml.YAMLMap<K, V> {
  return yamlPackage().isMap<K, V>(node)
}

export function isNode<T>(node: unknown): node is Yaml.Node<T> {
  return yamlPackage().isNode<T>(node)
}

export function isScalar<T>(node: unknown): node is Yaml.Scalar<T> {
  return yamlPackage().isScalar<T>(node)
}

export function isSeq<T>(node: unknown): node is Yaml.YAMLSeq<T> {
  return yamlPackage().isSeq<T>(node)
}
