import type { JSX } from 'hono/jsx/dom/jsx-runtime'

/** The element that JSX has made (jsx-runtime.ts). */
export function element<Type extends HTMLElement = HTMLElement>(jsx: JSX.Element): Type {
  return jsx as unknown as Type
}
