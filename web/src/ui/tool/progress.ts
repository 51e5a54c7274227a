/** The latest step of a long work; a bar is drawn only where there is a percent. */
export interface ToolProgress {
  step: string
  level: 'debug' | 'info' | 'warning' | 'error'
  /** 0 to 100; null if not known. */
  percent: number | null
  current: number | null
  total: number | null
}
