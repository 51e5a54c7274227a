import {
  Brain,
  CircleQuestionMark,
  FilePen,
  FilePlus,
  FileText,
  FolderOpen,
  FolderSearch,
  Globe,
  ListTodo,
  Plug,
  Search,
  Sparkles,
  Terminal,
  Users,
  Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'

const ICONS: readonly (readonly [RegExp, Component])[] = [
  [/skill/, Sparkles],
  [/^(bash|shell|exec|run_command|terminal)/, Terminal],
  [/^(read|read_file|cat|view)$/, FileText],
  [/^(write|write_file|create)/, FilePlus],
  [/^(edit|multi_edit|apply_patch|patch)/, FilePen],
  [/^(ls|list)$/, FolderOpen],
  [/^(find|glob)/, FolderSearch],
  [/^(grep|search)/, Search],
  [/^(fetch|web|http|browser)/, Globe],
  [/^todo/, ListTodo],
  [/^clarify|^ask/, CircleQuestionMark],
  [/^delegate|subagent|crew/, Users],
  [/^memory/, Brain],
  [/^mcp/, Plug],
]

/** The icon of a tool by its name; unknown ones get a wrench. */
export const toolIcon = (name: string): Component => ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? Wrench
