/** Every component in every state, for looking at while developing: /gallery.html?theme=dark&lang=zh. Not in the product. */

import { createApp } from 'vue'
import { i18n, setLanguage } from '@/i18n'
import '@/styles/index.css'
import GalleryPage from './GalleryPage.vue'

const wishes = new URLSearchParams(location.search)
const theme = wishes.get('theme')
if (theme) document.documentElement.dataset['theme'] = theme
await setLanguage(wishes.get('lang') === 'zh' ? 'zh' : 'en')
createApp(GalleryPage).use(i18n).mount('#app')
