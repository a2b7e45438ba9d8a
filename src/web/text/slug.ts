/** Pure. What a heading is called in an address, much as on GitHub: `Why, and how?` is `why-and-how`. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  return slug.slice(0, 100)
}
