/**
 * Makes elements of JSX: bundle.mjs puts this in the place of hono/jsx/dom, whose types it has. An element is made once;
 * what changes later changes the element itself.
 */
type Child = Node | string | number | boolean | null | undefined | readonly Child[]
type Props = { children?: Child } & Record<string, unknown>

export function jsx(tag: string | ((props: Props) => Node), props: Props): Node {
  if (typeof tag === 'function') return tag(props)
  const element = document.createElement(tag)
  const { children, ...attributes } = props
  for (const [name, value] of Object.entries(attributes)) {
    const isWord = /^aria-|^spellcheck$/.test(name)
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2).toLowerCase(), value as EventListener)
    } else if (value !== undefined && value !== null && (value !== false || isWord)) {
      element.setAttribute(name, value === true && !isWord ? '' : String(value))
    }
  }
  add(element, children)
  return element
}

export const jsxs = jsx

export function Fragment({ children }: Props): Node {
  const fragment = document.createDocumentFragment()
  add(fragment, children)
  return fragment
}

function add(parent: ParentNode, child: Child): void {
  if (Array.isArray(child)) for (const each of child) add(parent, each)
  else if (child instanceof Node) parent.append(child)
  else if (child !== null && child !== undefined && typeof child !== 'boolean') {
    parent.append(String(child))
  }
}
