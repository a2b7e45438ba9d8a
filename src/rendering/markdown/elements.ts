import type { Element, ElementContent, Root } from 'hast'
import { directionOf } from '../direction.ts'
import { visibleProse, visibleText } from '../hidden-characters.ts'
import { createPainter } from './code-colours.ts'
import { element, isolated, text } from './hast.ts'
import { liftedSteps } from './lifted-steps.ts'
import { placeSlots } from './line-slots.ts'
import { imageTarget, type LinkContext, linkTarget, slugOf } from './links.ts'
import type { Heading, MarkdownOptions } from './options.ts'
import { stepFigure } from './step-figure.ts'

const EXTERNAL = { rel: ['noopener', 'noreferrer', 'nofollow'], target: '_blank' }
const MAX_LABEL = 200

/** Adds the marks of the page (steps, anchors, labels) to the sanitized elements, and lists the headings. */
export function decorate(
  options: MarkdownOptions & LinkContext,
  headings: Heading[],
): (root: Root) => void {
  const steps = options.steps ?? []
  const byLine = new Map(steps.map((step, index) => [step.line, { step, index }]))
  const slugs = new Map<string, number>()
  const footnotes = new Set<unknown>()
  let marked = 0
  const paint = options.plainCode ? (code: string) => [text(code)] : createPainter()

  return (root) => {
    root.children = root.children.flatMap((child) =>
      child.type === 'element' || child.type === 'text' ? directed(block(child)) : [],
    )
    placeSlots(root, options.slots ?? [])
    root.children = root.children.flatMap((child) =>
      child.type === 'doctype' ? [] : liftedSteps(child),
    )
    if (marked !== steps.length) {
      throw new Error(`${steps.length - marked} steps are not at their lines of the text`)
    }
  }

  function block(node: ElementContent): ElementContent {
    const copy = decorated(node, {})
    if (copy.type === 'element') markLines(copy, node.position)
    return copy
  }

  function markLines({ properties }: Element, position: ElementContent['position']): void {
    if (options.lines && position)
      properties.dataLines = `${position.start.line}-${position.end.line}`
  }

  /** Whether the node is within a link, or within code. */
  type Where = { inLink?: boolean; inCode?: boolean }

  function decorated(node: ElementContent, where: Where): ElementContent {
    if (node.type === 'text')
      return text(where.inCode ? visibleCode(node.value) : visibleProse(node.value))
    if (node.type !== 'element') return text('')
    const { tagName } = node
    if (tagName === 'img') return picture(node, options, where) ?? image(node, where)
    const inside = {
      inLink: where.inLink || tagName === 'a',
      inCode: where.inCode || tagName === 'code',
    }
    const children = node.children.map((child) => decorated(child, inside))
    const copy = { ...node, children }
    if (tagName === 'a') return link(copy, where)
    if (tagName === 'code') copy.children = isolated(children)
    if (tagName === 'pre') return codeBlock(copy)
    if (tagName === 'table') return scrollable(copy)
    if (tagName === 'li') labelBox(copy)
    if (tagName === 'li' || tagName === 'tr') markLines(copy, node.position)
    if (tagName === 'div') dropTakenId(copy)
    if (isEmptyList(copy.properties.className)) delete copy.properties.className
    if (/^h[1-6]$/.test(tagName)) return directed(heading(copy))
    return /^(?:p|li|t[dh])$/.test(tagName) ? directed(copy) : copy
  }

  function heading(node: Element): Element {
    const own = Number(node.tagName[1])
    const level = Math.min(6, own + (options.headingShift ?? 0))
    const words = plainText(node)
    const slug = slugOf(words) || 'section'
    const times = slugs.get(slug) ?? 0
    slugs.set(slug, times + 1)
    const id = options.idPrefix + slug + (times > 0 ? `-${times}` : '')
    headings.push({ id, text: words, level: own, line: node.position?.start.line ?? 0 })
    return element(`h${level}`, { id }, node.children)
  }

  /** If several footnotes have the same name, only the first keeps the id. */
  function dropTakenId({ properties }: Element): void {
    if (footnotes.has(properties.id)) delete properties.id
    else footnotes.add(properties.id)
  }

  function link(node: Element, { inLink }: Where): Element {
    const target = linkTarget(String(node.properties.href ?? ''), options)
    if (!target || inLink) return element('span', { className: ['dead-link'] }, node.children)
    const { href, kind } = target
    return element('a', kind === 'external' ? { href, ...EXTERNAL } : { href }, node.children)
  }

  function painted(code: ElementContent): ElementContent {
    const language = languageOf(code)
    if (code.type !== 'element' || language === null) return code
    return { ...code, children: isolated(paint(plainText(code), language)) }
  }

  function codeBlock(node: Element): Element {
    const found = byLine.get(node.position?.start.line ?? 0)
    if (!found) {
      const children = node.children.map(painted)
      const pre = element('pre', { ...node.properties, tabIndex: 0 }, children)
      markLines(pre, node.position)
      return pre
    }
    marked++
    const code = paint(plainText(node), found.step.language)
    const figure = stepFigure(found.step, found.index + 1, code)
    markLines(figure, node.position)
    if (options.lines) Object.assign(figure.properties, { tabIndex: -1, dataRow: '' })
    return figure
  }
}

/** Of the code of a fence; null if the fence names none. */
function languageOf(code: ElementContent): string | null {
  if (code.type !== 'element' || code.tagName !== 'code') return null
  const { className } = code.properties
  const name = Array.isArray(className) ? String(className[0]) : ''
  return name.startsWith('language-') ? name.slice('language-'.length) : null
}

/** What has letters from right to left has the direction of most of its letters; code does not. */
function directed<Node extends ElementContent>(node: Node): Node {
  if (node.type !== 'element' || node.tagName === 'pre') return node
  const dir = directionOf(plainText(node))
  return dir ? { ...node, properties: { ...node.properties, dir } } : node
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** One that has an address here, linked to itself so that it can be enlarged. */
function picture(
  { properties }: Element,
  { addresses = {} }: LinkContext,
  { inLink }: { inLink?: boolean },
): Element | null {
  const name = String(properties.src ?? '')
  if (!Object.hasOwn(addresses, name)) return null
  const src = addresses[name]!
  const alt = visibleProse(String(properties.alt ?? ''))
  const shown = element('img', { src, alt, loading: 'lazy' }, [])
  return inLink ? shown : element('a', { className: ['picture'], href: src }, [shown])
}

/** Any other image is linked and never loaded: any site could serve it, and loading it would reveal that somebody reads. */
function image({ properties }: Element, { inLink }: { inLink?: boolean }): Element {
  const href = imageTarget(String(properties.src ?? ''))
  const alt = String(properties.alt ?? '') || href || 'no description'
  const mark = element('span', { className: ['image-mark'] }, [text('image')])
  const children = [mark, text(' '), text(visibleProse(alt))]
  const className = ['image']
  if (!href || inLink) return element('span', { className }, children)
  return element('a', { className, href, ...EXTERNAL }, children)
}

function scrollable(table: Element): Element {
  const head = table.children.find((child) => child.type === 'element' && child.tagName === 'thead')
  const names = head
    ? plainText(head)
        .trim()
        .split(/(?<!\s)\s*\n\s*/)
        .join(', ')
    : ''
  const label = names === '' ? 'Table' : `Table: ${names.slice(0, MAX_LABEL)}`
  const properties = { className: ['table-scroll'], tabIndex: 0, role: 'region', ariaLabel: label }
  return element('div', properties, [table])
}

/** Labels the checkbox of a task with the text of the task. */
function labelBox(item: Element): void {
  const paragraph = item.children.find((child) => child.type === 'element' && child.tagName === 'p')
  const own = paragraph?.type === 'element' && boxOf(paragraph) ? paragraph : item
  const box = boxOf(own)
  if (!box) return
  const inline = own.children.filter((child) => !(child.type === 'element' && isBlock(child)))
  const label = inline.map(plainText).join('').trim().slice(0, MAX_LABEL)
  box.properties.ariaLabel = label === '' ? 'Task' : label
}

function boxOf({ children }: Element): Element | undefined {
  const box = children.find((child) => child.type === 'element' && child.tagName === 'input')
  return box as Element | undefined
}

function isBlock({ tagName }: Element): boolean {
  return ['ul', 'ol', 'pre', 'blockquote', 'div', 'figure'].includes(tagName)
}

/** Line ends in code stay; a CR without LF becomes visible. */
function visibleCode(value: string): string {
  return visibleText(value.replace(/\r\n/g, '\n'))
}

function plainText(node: ElementContent): string {
  if (node.type === 'text') return node.value
  return node.type === 'element' ? node.children.map(plainText).join('') : ''
}
