/** The page: loads the session, then shows the login or the fleet. */

import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/parts.css';
import './style/views.css';
import './style/before-after.css';
import './style/print.css';
import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { followSession } from './api/live.js';
import { loadSession } from './api/session.js';
import { App } from './app.js';
import { chooseTexts } from './texts/texts.js';

const root = document.getElementById('app');
if (root === null) throw new Error('the index has no element #app');

await Promise.all([chooseTexts(), loadSession()]);
followSession();
render(
  <LocationProvider>
    <App />
  </LocationProvider>,
  root,
);
