import { render } from 'hono/jsx/dom'
import type { JSX } from 'hono/jsx/dom/jsx-runtime'

/** Makes an element of JSX. It is not rendered again: what changes later changes the element itself. */
export function element<Type extends HTMLElement = HTMLElement>(jsx: JSX.Element): Type {
  const container = document.createElement('div')
  render(jsx, container)
  return container.firstElementChild as Type
}
