import { XMLParser } from 'fast-xml-parser'

/** fast-xml-parser's ordered form: the key that is a tag name has the children as its value. */
export type XmlNode = Record<string, unknown>

/** Empty for text that ends inside a tag, which is reported as incomplete anyway. */
export function parseXml(report: string): XmlNode[] {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    removeNSPrefix: true,
  })
  try {
    return parser.parse(report)
  } catch {
    // the parser throws plain errors without a code, and only for bad input
    return []
  }
}

export function element(node: XmlNode): [tag: string, children: XmlNode[]] {
  const tag = Object.keys(node).find((key) => key !== ':@') ?? ''
  const children = node[tag]
  return [tag, Array.isArray(children) ? children : []]
}

/** Also `''` for an attribute without a value. */
export function attribute(node: XmlNode, name: string): string | null {
  const attributes = (node[':@'] ?? {}) as Record<string, unknown>
  const value = Object.hasOwn(attributes, `@_${name}`) ? attributes[`@_${name}`] : undefined
  return value === undefined ? null : decode(String(value))
}

export function attributeNames(node: XmlNode): string[] {
  return Object.keys(node[':@'] ?? {}).map((key) => key.slice(2))
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

/**
 * Decodes XML's five predefined entities and numeric characters. Entities that a document declares stay as they
 * are.
 */
export function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g,
    (whole, dec, hex, name) => {
      if (name !== undefined) return ENTITIES.get(name) ?? whole
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
