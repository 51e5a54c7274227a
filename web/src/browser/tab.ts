/** The tab of this page: its title and its icon. */

let title = 'NetaClaw'
let news = 0

export function setTabTitle(next: string): void {
  title = next
  show()
}

/** Marks the tab with the number of things that are new; 0 takes the mark away. */
export function markTab(count: number): void {
  news = count
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (icon) icon.href = count > 0 ? '/favicon-news.svg' : '/favicon.svg'
  show()
}

function show(): void {
  document.title = news > 0 ? `(${news}) ${title}` : title
}
