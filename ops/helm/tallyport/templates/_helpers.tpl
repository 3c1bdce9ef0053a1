{{- define "tallyport.image" -}}
{{ required "Set image.repository: the image built from the Dockerfile." .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "tallyport.labels" -}}
app.kubernetes.io/name: tallyport
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels by which a process's pods are found. Takes (dict "root" $ "process" "web"). */}}
{{- define "tallyport.selector" -}}
app.kubernetes.io/name: tallyport
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end }}

{{- define "tallyport.env" -}}
- { name: PUBLIC_URL, value: {{ required "Set publicUrl, such as https://vote.example.org." .Values.publicUrl | quote }} }
- { name: TRUST_PROXY, value: {{ required "Set trustProxy: 1 behind one ingress controller. With a wrong value all clients share one address, or each can choose its own." (.Values.trustProxy | toString) | quote }} }
- { name: METRICS_HOST, value: 0.0.0.0 }
- { name: METRICS_PORT, value: '9464' }
- { name: SHUTDOWN_DELAY_MS, value: {{ mul .Values.web.shutdownDelaySeconds 1000 | quote }} }
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{/* The pod of a process. Takes (dict "root" $ "process" "web" "command" (list …) "port" 3000 "config" .Values.web "grace" 30). */}}
{{- define "tallyport.pod" -}}
metadata:
  labels:
    {{- include "tallyport.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .process }}
  {{- with .config.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .grace }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: {{ .process }}
      image: {{ include "tallyport.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: {{ toJson .command }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        {{- include "tallyport.env" .root | nindent 8 }}
      envFrom:
        - secretRef: { name: {{ required "Set existingSecret: a Secret with SECRET_KEY, MONGODB_URI and REDIS_URL." .root.Values.existingSecret }} }
      {{- if .port }}
      ports:
        {{- if eq .process "web" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: metrics, containerPort: 9464 }
      # MongoDB may be away at the start: a process waits a minute for it.
      startupProbe:
        httpGet: { path: /healthz, port: {{ .port }} }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: {{ .port }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # A web pod leaves the Service after 30 s of failures or without an answer. MongoDB has usually failed over by then, and
      # the pod's own 503 (JSON, with Retry-After) is better than that of an ingress without any pod. A terminating pod leaves
      # at once anyway.
      readinessProbe:
        httpGet: { path: /readyz, port: {{ .port }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ eq .process "web" | ternary 15 2 }}
      {{- end }}
      resources:
        {{- toYaml .config.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
  volumes:
    - { name: tmp, emptyDir: {} }
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "tallyport.egress" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
# Game servers and vote listeners: any port of any public address.
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: {{ toJson .Values.networkPolicy.privateRanges }}
    - ipBlock:
        cidr: ::/0
        except: [fc00::/7, fe80::/10]
{{- with .Values.networkPolicy.services }}
{{ toYaml . }}
{{- end }}
{{- end }}
