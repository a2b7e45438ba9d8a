/** The child cases of each case: those that name it as their `parent`. */
export interface ParentIndex {
  put(id: string, parent: string | null): void
  children(id: string): string[]
}

export function createParentIndex(): ParentIndex {
  const parents = new Map<string, string>()
  const members = new Map<string, Set<string>>()

  function leave(id: string): void {
    const parent = parents.get(id)
    if (parent === undefined) return
    parents.delete(id)
    const others = members.get(parent)
    others?.delete(id)
    if (others?.size === 0) members.delete(parent)
  }

  return {
    put(id, parent) {
      leave(id)
      if (parent === null) return
      parents.set(id, parent)
      const others = members.get(parent)
      if (others) others.add(id)
      else members.set(parent, new Set([id]))
    },
    children: (id) => [...(members.get(id) ?? [])],
  }
}
